// Notifies copiers when a copy of theirs has changed. Every change, in any process, raises the copy's
// revision. The revisions of watched copies are polled, and read at once when this process reports a change.
import type { Cancel, Timers } from "../../concurrency/time.ts";
import type { Store } from "../../store/store.ts";
import type { ServerMessages } from "../schemas/live.ts";
import { Changes } from "./changes.ts";
import { COPIES_CHECKED_EVERY_MS, COPY_WATCHES_MAX } from "./limits.ts";
import { messageOf, reached, refusalOf } from "./messages.ts";
import { Versions } from "./versions.ts";
import type { Viewer } from "./viewers.ts";
import { Watches } from "./watches.ts";

type CopyTellerParts = {
  readonly store: Pick<Store, "copying">;
  readonly timers: Timers;
  /** Called when the store cannot be read; the next poll reads it again. */
  readonly onFault: (error: unknown) => void;
};

export class CopyTeller {
  readonly #store: Pick<Store, "copying">;
  readonly #watches = new Watches<Viewer>(COPY_WATCHES_MAX);
  readonly #changes: Changes<"copy">;
  readonly #revisions: Versions;
  readonly #cancel: Cancel;

  constructor({ store, timers, onFault }: CopyTellerParts) {
    this.#store = store;
    this.#changes = new Changes({ timers, tell: (copyId) => this.#tell(copyId) });
    this.#revisions = new Versions({
      store: { versionsOf: (copyIds) => store.copying.revisionsOf(copyIds) },
      isWatched: (copyId) => this.#watches.isWatched(copyId),
      onMoved: (copyId) => this.#changes.note(copyId, ["copy"]),
      onFault,
    });
    this.#cancel = timers.every(COPIES_CHECKED_EVERY_MS, () => this.#revisions.look(this.#watches.watched()));
  }

  /** Notifies a viewer of changes of a copy of their own from now on. Answers the refusal, or null. */
  async watch(viewer: Viewer, copyId: string): Promise<ServerMessages["refused"] | null> {
    const copy = await this.#store.copying.findCopy(copyId);
    if (copy === null || copy.personId !== viewer.personId) return refusalOf("NOT_FOUND");
    await this.#revisions.begin(copyId);
    if (!viewer.isConnected) return null;
    return this.#watches.watch(viewer, copyId) ? null : reached("COPY_WATCHES_MAX");
  }

  unwatch(viewer: Viewer, copyId: string): void {
    this.#watches.unwatch(viewer, copyId);
  }

  /** Removes all watches of a viewer that disconnected. */
  drop(viewer: Viewer): void {
    this.#watches.drop(viewer);
  }

  /** Reads the revision of a copy now: a change of it is durable. */
  changed(copyId: string): void {
    // Most copies have no viewers.
    if (this.#watches.isWatched(copyId)) this.#revisions.look([copyId]);
  }

  async close(): Promise<void> {
    this.#cancel();
    await this.#revisions.close();
    this.#changes.close();
  }

  #tell(copyId: string): void {
    const message = messageOf("copyChanged", { copyId });
    const name = `copyChanged ${copyId}`;
    for (const { line } of this.#watches.watchersOf(copyId)) line.sendNewest(name, message);
  }
}
