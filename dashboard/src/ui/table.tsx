import type { ReactNode } from "react";
import { Missing } from "./badge.tsx";
import { Card, EmptyState, Skeleton } from "./card.tsx";
import { IsZoneShown, Time, type TimeProps, ZONE } from "./figures/figures.tsx";
import { useIsPhone } from "./hooks.ts";

const SKELETON_ROWS = 5;

export type Column<Row> = {
  /** Unique in its table. */
  readonly header: string;
  /** Its cells are times: the header names their zone, once for all rows. */
  readonly isTime?: true;
  /** Numbers stand at the right, with digits of one width. */
  readonly align?: "left" | "right";
  /** The column that names the row: one a table, for screen readers and as the head of a card. */
  readonly isRowHeader?: boolean;
  /** Null where the row has nothing of it: a dash in a table, and left out of a card. */
  readonly cell: (row: Row) => ReactNode;
  /** How wide it is, as a class, where tables below each other should stand in line. */
  readonly width?: string;
  /** Of a column whose head sorts the table; on a phone the page offers the choice otherwise. */
  readonly sort?: {
    /** Null while another column sorts; reversed: the other way round than at first. */
    readonly state: "sorted" | "reversed" | null;
    /** Whether it begins with the least, when it is sorted and not reversed. */
    readonly isLeastFirst?: boolean;
    readonly onSort: () => void;
  };
};

/** The header of a column, alone or with what else is particular to it. */
type Head<Row> = string | Pick<Column<Row>, "header" | "width" | "sort" | "isTime">;

export function column<Row>(head: Head<Row>, cell: Column<Row>["cell"]): Column<Row> {
  return { ...(typeof head === "string" ? { header: head } : head), cell };
}

/** The column that names the row. */
export function headColumn<Row>(head: Head<Row>, cell: Column<Row>["cell"]): Column<Row> {
  return { ...column(head, cell), isRowHeader: true };
}

/** Of numbers: at the right. */
export function numberColumn<Row>(head: Head<Row>, cell: Column<Row>["cell"]): Column<Row> {
  return { ...column(head, cell), align: "right" };
}

/** Of times, Unix ms. */
export function timeColumn<Row>(
  head: Head<Row>,
  at: (row: Row) => TimeProps["at"],
  format: TimeProps["format"] = "dateTime",
): Column<Row> {
  return { ...column(head, (row: Row) => <Time at={at(row)} format={format} />), isTime: true };
}

export type TableProps<Row> = {
  /** What the table shows; unique on its page. Read out, and shown if `isCaptionShown`. */
  caption: string;
  isCaptionShown?: boolean;
  columns: readonly Column<Row>[];
  /** Headers of columns that are left out. */
  without?: readonly string[];
  /** Undefined while they are loaded. */
  rows: readonly Row[] | undefined;
  rowKey: (row: Row) => string | number;
  /** What to say of no rows: a sentence, or an EmptyState. */
  empty?: ReactNode;
  phone?: "cards" | "scroll";
};

export function Table<Row>(props: TableProps<Row>) {
  const isPhone = useIsPhone();
  const { rows, caption, empty = "None.", phone = "cards", without = [] } = props;
  if (rows?.length === 0) {
    return typeof empty === "string" ? <EmptyState title={empty} /> : empty;
  }
  const columns = props.columns.filter(({ header }) => !without.includes(header));
  if (isPhone && phone === "cards") return <Cards {...props} columns={columns} />;
  return (
    <ScrollRegion label={caption}>
      <WideTable {...props} columns={columns} />
    </ScrollRegion>
  );
}

type TableCardProps<Row> = Omit<TableProps<Row>, "caption"> & {
  title: string;
  aside?: ReactNode;
  /** As the title if it is left out. */
  caption?: string;
};

/** A table on a sheet of its own. */
export function TableCard<Row>({ title, aside, caption = title, ...table }: TableCardProps<Row>) {
  return (
    <Card title={title} aside={aside} isFlush>
      <Table caption={caption} {...table} />
    </Card>
  );
}

function WideTable<Row>({ caption, isCaptionShown = false, columns, rows, rowKey }: TableProps<Row>) {
  return (
    <table className="w-full border-collapse text-sm" aria-busy={rows === undefined}>
      <caption className={isCaptionShown ? "px-4 py-2 text-left font-semibold text-base" : "sr-only"}>
        {caption}
      </caption>
      <thead className="sticky top-0 z-1 bg-surface shadow-[inset_0_-1px_0_var(--line)]">
        <tr>
          {columns.map((column) => (
            <th
              key={column.header}
              scope="col"
              aria-sort={ariaSortOf(column)}
              className={`column-label whitespace-nowrap px-3 py-2 first:pl-4 last:pr-4 ${column.width ?? ""} ${sideOf(column)}`}
            >
              {column.sort === undefined ? (
                headerOf(column)
              ) : (
                <SortButton column={column} sort={column.sort} />
              )}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows === undefined
          ? skeletonKeys().map((key) => (
              <tr key={key} className="border-line border-t first:border-t-0">
                {columns.map((column) => (
                  <td key={column.header} className="px-3 py-2 first:pl-4 last:pr-4">
                    <Skeleton />
                  </td>
                ))}
              </tr>
            ))
          : rows.map((row) => (
              <tr key={rowKey(row)} className="border-line border-t first:border-t-0 hover:bg-hover">
                {columns.map((column) => (
                  <Cell key={column.header} column={column} row={row} />
                ))}
              </tr>
            ))}
      </tbody>
    </table>
  );
}

type SortButtonProps<Row> = { column: Column<Row>; sort: NonNullable<Column<Row>["sort"]> };

function SortButton<Row>({
  column: { header, align },
  sort: { state, isLeastFirst = false, onSort },
}: SortButtonProps<Row>) {
  return (
    <button
      type="button"
      onClick={onSort}
      className={`column-label -my-1 inline-flex min-h-6 items-center gap-1 rounded-sm py-1 hover:underline ${align === "right" ? "flex-row-reverse" : ""} ${state === null ? "" : "underline underline-offset-4"}`}
    >
      {header}
      <span aria-hidden="true" className={state === null ? "invisible" : ""}>
        {(state === "reversed") !== isLeastFirst ? "▴" : "▾"}
      </span>
    </button>
  );
}

function ariaSortOf<Row>({ sort }: Column<Row>): "ascending" | "descending" | undefined {
  if (sort === undefined || sort.state === null) return undefined;
  return sort.state === (sort.isLeastFirst === true ? "reversed" : "sorted") ? "descending" : "ascending";
}

function Cell<Row>({ column, row }: { column: Column<Row>; row: Row }) {
  const look = `px-3 py-1.75 first:pl-4 last:pr-4 ${sideOf(column)}`;
  const shown = <IsZoneShown value={column.isTime ?? false}>{column.cell(row) ?? <Missing />}</IsZoneShown>;
  if (!column.isRowHeader) return <td className={look}>{shown}</td>;
  return (
    <th scope="row" className={`${look} whitespace-nowrap font-medium`}>
      {shown}
    </th>
  );
}

function Cards<Row>({ caption, columns, rows, rowKey }: TableProps<Row>) {
  const head = columns.find((column) => column.isRowHeader);
  const rest = columns.filter((column) => column !== head);
  return (
    <ul aria-label={caption} aria-busy={rows === undefined} className="divide-y divide-line text-sm">
      {rows === undefined &&
        skeletonKeys().map((key) => (
          <li key={key} className="px-4 py-3">
            <Skeleton lines={3} />
          </li>
        ))}
      {rows?.map((row) => (
        <li key={rowKey(row)} className="px-4 py-3">
          {head !== undefined && (
            <div className="wrap-anywhere mb-1.5 min-w-0 font-medium">{head.cell(row)}</div>
          )}
          <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-1">
            {rest.map((column) => (
              <CardLine key={column.header} label={column.header} value={column.cell(row)} />
            ))}
          </dl>
        </li>
      ))}
    </ul>
  );
}

function CardLine({ label, value }: { label: string; value: ReactNode }) {
  if (value === null || value === undefined) return null;
  return (
    <div className="contents">
      <dt className="text-ink-soft">{label}</dt>
      <dd className="numeric min-w-0 whitespace-normal text-right">{value}</dd>
    </div>
  );
}

function headerOf<Row>({ header, isTime }: Column<Row>): string {
  return isTime ? `${header} (${ZONE})` : header;
}

function sideOf<Row>({ align = "left" }: Column<Row>): string {
  return align === "right" ? "text-right numeric" : "text-left";
}

function skeletonKeys(): number[] {
  return Array.from({ length: SKELETON_ROWS }, (_none, index) => index);
}

/** What may be wider than the screen scrolls in itself, also by keyboard, and says what it is. */
export function ScrollRegion({ label, children }: { label: string; children: ReactNode }) {
  return (
    <section
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: who has no mouse scrolls a region by focusing it.
      tabIndex={0}
      className="relative max-h-[calc(100dvh-9rem)] overflow-auto -outline-offset-2"
    >
      {children}
    </section>
  );
}
