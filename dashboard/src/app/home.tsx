import { Navigate } from "@tanstack/react-router";
import { usePerson } from "../api/session.ts";
import { homeOf } from "./audience.ts";

/** The address without a path leads to where the person goes on. */
export function Home() {
  return <Navigate to={homeOf(usePerson())} replace />;
}
