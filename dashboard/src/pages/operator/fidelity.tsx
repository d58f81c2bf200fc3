// How faithful the simulation is, in the words of the documentation, and what became of what the feeds
// brought.
import { useQuery } from "@tanstack/react-query";
import { createElement } from "react";
import type { FidelityJson } from "../../../../src/dashboard-api/schemas.ts";
import { fidelityQuery } from "../../api/operator.ts";
import { inWords } from "../../ui/badge.tsx";
import { TEXT_LINK } from "../../ui/button.tsx";
import { Card, Loaded } from "../../ui/card.tsx";
import { Screen } from "../../ui/page-header.tsx";
import { type Column, headColumn, numberColumn, ScrollRegion, Table } from "../../ui/table.tsx";
import { type Block, blocksOf, type Inline } from "./fidelity/blocks.ts";
import { Refreshed } from "./parts/refreshed.tsx";

type Feed = FidelityJson["feeds"][number];
type Outcome = { readonly outcome: string; readonly count: number };

export function Page() {
  const query = useQuery(fidelityQuery);
  return (
    <Screen
      title="Fidelity"
      lead="Outcomes of the messages of the market-data feeds, and the known differences from the exchange."
      actions={<Refreshed query={query} />}
    >
      <Loaded query={query}>
        {({ feeds, text }) => (
          <>
            {feeds.map((feed) => (
              <FeedCard key={feed.family} feed={feed} />
            ))}
            <Card>
              <Prose blocks={blocksOf(text)} />
            </Card>
          </>
        )}
      </Loaded>
    </Screen>
  );
}

function FeedCard({ feed }: { feed: Feed }) {
  const { family: type, quotes, trades, marks, malformedMessages } = feed;
  const name = type === "SPOT" ? "Spot" : "Futures";
  const kinds = [
    { what: "quotes", counts: quotes },
    { what: "trades", counts: trades },
    ...(type === "FUTURES" ? [{ what: "mark prices", counts: marks }] : []),
  ];
  return (
    <Card
      title={`${name} feed`}
      isFlush
      aside={
        <span className="text-ink-soft text-sm">
          <span className="numeric">{malformedMessages}</span> malformed messages
        </span>
      }
    >
      <div className="grid divide-y divide-line lg:auto-cols-fr lg:grid-flow-col lg:divide-x lg:divide-y-0">
        {kinds.map(({ what, counts }) => (
          <Table
            key={what}
            caption={`${name} ${what}`}
            isCaptionShown
            columns={COLUMNS}
            rows={Object.entries(counts).map(([outcome, count]) => ({ outcome, count }))}
            rowKey={({ outcome }) => outcome}
            phone="scroll"
            empty={`No ${what} yet.`}
          />
        ))}
      </div>
    </Card>
  );
}

const COLUMNS: readonly Column<Outcome>[] = [
  headColumn("Outcome", ({ outcome }) => inWords(outcome.replace(/([a-z])([A-Z])/g, "$1_$2"))),
  numberColumn("Messages", ({ count }) => count),
];

// Documentation as elements of the page. The page has an h1 of its own, so the document's title becomes an
// h2, and so on.

const HEADING_LEVEL_MAX = 6;

function Prose({ blocks }: { blocks: readonly Block[] }) {
  return (
    <div className="flex max-w-4xl flex-col gap-3">
      {blocks.map((block, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the text never changes while it is shown.
        <BlockView key={index} block={block} label={`Table ${index}`} />
      ))}
    </div>
  );
}

function BlockView({ block, label }: { block: Block; label: string }) {
  switch (block.kind) {
    case "heading":
      return createElement(
        `h${Math.min(HEADING_LEVEL_MAX, block.level + 1)}`,
        { className: block.level === 1 ? "font-semibold text-lg" : "mt-3 font-semibold" },
        block.text,
      );
    case "paragraph":
      return (
        <p>
          <Words content={block.content} />
        </p>
      );
    case "list":
      return (
        <ul className="flex list-disc flex-col gap-1.5 pl-5">
          {block.items.map((item, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the text never changes while it is shown.
            <li key={index}>
              <Words content={item} />
            </li>
          ))}
        </ul>
      );
    case "table":
      return <TableView block={block} label={label} />;
  }
}

function TableView({ block, label }: { block: Extract<Block, { kind: "table" }>; label: string }) {
  return (
    <ScrollRegion label={label}>
      <table className="w-full min-w-xl border-collapse text-sm">
        <thead>
          <tr className="border-line-strong border-b">
            {block.head.map((cell, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: the text never changes while it is shown.
              <th key={index} scope="col" className="py-1.5 pr-4 text-left align-top font-semibold">
                <Words content={cell} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {block.rows.map((row, rowIndex) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the text never changes while it is shown.
            <tr key={rowIndex} className="border-line border-b">
              {row.map((cell, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: the text never changes while it is shown.
                <td key={index} className="py-1.5 pr-4 align-top">
                  <Words content={cell} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollRegion>
  );
}

function Words({ content }: { content: readonly Inline[] }) {
  // biome-ignore lint/suspicious/noArrayIndexKey: the text never changes while it is shown.
  return content.map((inline, index) => <Word key={index} inline={inline} />);
}

function Word({ inline }: { inline: Inline }) {
  switch (inline.kind) {
    case "text":
      return inline.text;
    case "code":
      return <code className="rounded-sm bg-sunken px-1 font-mono text-[0.9em]">{inline.text}</code>;
    case "strong":
      return <strong className="font-semibold">{inline.text}</strong>;
    case "emphasis":
      return <em>{inline.text}</em>;
    case "link":
      return inline.address === null ? (
        inline.text
      ) : (
        <a href={inline.address} rel="noreferrer" className={TEXT_LINK}>
          {inline.text}
        </a>
      );
  }
}
