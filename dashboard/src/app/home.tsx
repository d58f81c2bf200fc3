import { useQuery } from "@tanstack/react-query";
import { Navigate } from "@tanstack/react-router";
import { usePerson } from "../api/session.ts";
import { strategiesQuery } from "../api/strategy.ts";
import { Skeleton } from "../ui/card.tsx";
import { homeOf } from "./audience.ts";

/** The address without a path leads to where the person goes on. */
export function Home() {
  const person = usePerson();
  const isUnclear = homeOf(person, undefined) === null;
  const { data, isError } = useQuery({ ...strategiesQuery, enabled: isUnclear });
  // The list of strategies says itself why it could not be loaded.
  const to = homeOf(person, isError ? true : data && data.rows.length > 0);
  return to === null ? <Skeleton lines={4} /> : <Navigate to={to} replace />;
}
