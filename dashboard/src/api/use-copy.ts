// The copy of a page: its id in the address, and the copy itself as the frame around its pages has loaded it.

import { useMutation, useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import type { CopyJson } from "../../../src/dashboard-api/schemas.ts";
import { toast } from "../ui/overlays/toast.tsx";
import { call, type EndpointName, type Given, type Parameters } from "./call.ts";
import { copyQuery } from "./copying.ts";
import { outdate } from "./query-client.ts";

const route = getRouteApi("/copies/$copyId");

export function useCopyId(): string {
  return route.useParams().copyId;
}

/** `copy` is undefined while it is loaded. */
export function useCopy(): { readonly copyId: string; readonly copy: CopyJson | undefined } {
  const copyId = useCopyId();
  return { copyId, copy: useQuery(copyQuery(copyId)).data };
}

type CopyAction = EndpointName & `${"POST" | "PUT" | "DELETE"} /copies/:copyId/${string}`;

/** What an action of a copy changes. */
export function copyKeys(copyId: string) {
  return [["copy"], ["copies"], ["drift-hint", copyId]];
}

/** An action of a copy; `says` is shown afterwards, and all queries of the copy are loaded again. */
export function useCopyMutation<Name extends CopyAction>(
  copyId: string,
  name: Name,
  { says, onDone }: { readonly says: string; readonly onDone?: () => void },
) {
  return useMutation({
    mutationFn: (body: Omit<Parameters<Name>, "copyId">) =>
      call(name, ...([{ ...body, copyId }] as unknown as Given<Name>)),
    onSuccess: () => {
      toast(says);
      outdate(...copyKeys(copyId));
      onDone?.();
    },
  });
}
