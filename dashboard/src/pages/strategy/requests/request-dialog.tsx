// One request in full; of a refused one why, and what to change.
import type { DiagnosisJson, RequestJson } from "../../../../../src/dashboard-api/schemas.ts";
import { Copyable } from "../../../ui/copy-button.tsx";
import { latencyInWords } from "../../../ui/figures/duration.ts";
import { Facts } from "../../../ui/figures/facts.tsx";
import { Time } from "../../../ui/figures/time.tsx";
import { Dialog } from "../../../ui/overlays/dialog.tsx";
import { CHECKS, clockInWords } from "./diagnosis-words.ts";
import { Outcome, REPLAY } from "./request-table.tsx";

type RequestDialogProps = {
  /** Null: none is open; undefined: the one that was asked for is not remembered any more. */
  request: RequestJson | null | undefined;
  onClose: () => void;
};

export function RequestDialog({ request, onClose }: RequestDialogProps) {
  return (
    <Dialog
      isOpen={request !== null}
      onClose={onClose}
      title={request ? `${request.method} ${request.path}` : "Request"}
    >
      {request === undefined && (
        <p>
          This request is no longer available. The server keeps the last 100 requests of a key until it
          restarts.
        </p>
      )}
      {request && <Detail request={request} />}
    </Dialog>
  );
}

function Detail({ request }: { request: RequestJson }) {
  const { diagnosis } = request;
  return (
    <>
      <div className="flex flex-wrap items-center gap-3">
        <Outcome request={request} />
        {request.message !== null && <span className="min-w-0">{request.message}</span>}
        {request.isReplay && <span className="min-w-0">{REPLAY}</span>}
      </div>
      {diagnosis !== null && <Diagnosis diagnosis={diagnosis} />}
      <Facts
        facts={[
          { label: "Received", value: <Time at={request.at} /> },
          { label: "Answered in", value: latencyInWords(request.latencyMs) },
          { label: "Weight", value: request.weight },
          { label: "Address", value: <span className="break-all font-mono text-xs">{request.address}</span> },
          {
            label: "Client",
            value: <span className="break-all font-mono text-xs">{request.userAgent || "unknown"}</span>,
          },
        ]}
      />
    </>
  );
}

function Diagnosis({ diagnosis }: { diagnosis: DiagnosisJson }) {
  const { check, messageSha256, clockOffsetMs, hints } = diagnosis;
  const { name, means } = CHECKS[check];
  return (
    <section
      aria-label="Diagnosis"
      className="flex flex-col gap-3 rounded-md border border-loss border-l-4 bg-loss-soft px-4 py-3"
    >
      <div>
        <h3 className="font-medium">It failed the check: {name}</h3>
        <p className="mt-0.5">{means}</p>
      </div>
      {hints.length > 0 && (
        <div>
          <h4 className="font-medium">What to change</h4>
          <ul className="mt-0.5 flex list-disc flex-col gap-1 pl-5">
            {hints.map((hint) => (
              <li key={hint}>{hint}</li>
            ))}
          </ul>
        </div>
      )}
      {clockOffsetMs !== null && <p>{clockInWords(clockOffsetMs)}</p>}
      {messageSha256 !== null && (
        <div>
          <h4 className="font-medium">SHA-256 of the message as it was received</h4>
          <p className="mt-0.5 mb-1.5 text-sm">
            Hash what your client signs: if it differs, your client did not sign what it sent.
          </p>
          <Copyable value={messageSha256} label="SHA-256 of the message" />
        </div>
      )}
    </section>
  );
}
