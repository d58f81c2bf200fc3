import type { ReactNode } from "react";
import { fileAddress, type Parameters } from "../api/call.ts";
import { buttonLook } from "../ui/button.tsx";

type CsvLinkProps<Name extends FileName> = {
  file: Name;
  parameters: Parameters<Name>;
  size?: "normal" | "small";
  children: ReactNode;
};
type FileName = "GET /strategies/:strategyId/performance.csv" | "GET /strategies/:strategyId/trades.csv";

/** Downloads a file of a strategy's figures. */
export function CsvLink<Name extends FileName>({
  file,
  parameters,
  size = "normal",
  children,
}: CsvLinkProps<Name>) {
  return (
    <a href={fileAddress(file, parameters)} download className={buttonLook("quiet", size)}>
      {children}
    </a>
  );
}
