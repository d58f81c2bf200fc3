// The copy that a page is about: its id out of the address, and what the frame around all of its pages has loaded of it.
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import type { CopyShape } from "../../../src/dashboard/shapes.ts";
import { toast } from "../ui/overlays/toast.tsx";
import { call, type Method } from "./call.ts";
import { copyPath, copyQuery } from "./copying.ts";

const route = getRouteApi("/copies/$copyId");

export function useCopyId(): string {
  return route.useParams().copyId;
}

/** `copy` is undefined while it is loaded. */
export function useCopy(): { readonly copyId: string; readonly copy: CopyShape | undefined } {
  const copyId = useCopyId();
  return { copyId, copy: useQuery(copyQuery(copyId)).data };
}

type Asked<Body> = {
  readonly method?: Method;
  /** Below /copies/:copyId. */
  readonly path: string;
  /** Said when it was done. */
  readonly says: string;
  readonly body?: (what: Body) => unknown;
  readonly onDone?: () => void;
};

/** Something that is asked of a copy. Afterwards all that was loaded of it is loaded anew. */
export function useCopyMutation<Body = void>(
  copyId: string,
  { method = "POST", path, says, body, onDone }: Asked<Body>,
) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (what: Body) => call<unknown>(method, copyPath(copyId, path), body?.(what)),
    onSuccess: () => {
      toast(says);
      void queries.invalidateQueries({ queryKey: ["copy"] });
      void queries.invalidateQueries({ queryKey: ["copies"] });
      void queries.invalidateQueries({ queryKey: ["drift-hint", copyId] });
      onDone?.();
    },
  });
}
