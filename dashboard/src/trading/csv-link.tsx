import { pathOf } from "../api/trading.ts";
import { buttonLook } from "../ui/button.tsx";

type CsvLinkProps = {
  strategyId: string;
  file: "performance.csv" | "trades.csv";
  search?: object;
  size?: "normal" | "small";
  children: string;
};

/** Downloads a file of a strategy's figures. */
export function CsvLink({ strategyId, file, search = {}, size = "normal", children }: CsvLinkProps) {
  return (
    <a
      href={`/dashboard/api${pathOf(strategyId, file, search)}`}
      download
      className={buttonLook("quiet", size)}
    >
      {children}
    </a>
  );
}
