// The copier's thread of a real server on the embedded database ends by itself: the server continues,
// restarts it, and it resumes where it was. The venue is a second server.
import { expect, onTestFinished, test } from "vitest";
import { openDataDirectory } from "../../src/config/data-directory.ts";
import { newCopier, newLeads, newVenueAccounts } from "../copy/actors.ts";
import { eventually } from "../support/eventually.ts";
import { startGateway } from "../support/servers/gateway.ts";
import { endThread, INSPECTED } from "../support/servers/worker-threads.ts";
import { MARKET_BUY, spotTrader } from "../support/spot-trader.ts";

/** Small enough for three of them. */
const BUY = { ...MARKET_BUY, quantity: "0.0005" };

test("a copier's thread that ends is started again, and copies each order once", async () => {
  const venue = await startGateway();
  onTestFinished(() => venue.kill());
  const gateway = await startGateway({ env: { COPY_VENUES: venue.url, ...INSPECTED } });
  onTestFinished(() => gateway.kill());
  const books = await openDataDirectory(gateway.dataDir, null);
  onTestFinished(() => books.store.close());
  const venueBooks = await openDataDirectory(venue.dataDir, null);
  onTestFinished(() => venueBooks.store.close());
  const [lead] = await newLeads(books, ["SPOT"]);
  const [account] = await newVenueAccounts(venueBooks, "SPOT", 1);
  if (lead === undefined || account === undefined) throw new Error("they were made");
  const { copyId } = await newCopier(books, { lead, venue: account, origin: venue.url });
  const bots = { here: spotTrader(gateway.url, lead), there: spotTrader(venue.url, account) };
  const buy = async () =>
    expect(await bots.here.place(BUY)).toMatchObject({ status: 200, body: { status: "FILLED" } });
  const mirrored = async (count: number) => {
    await eventually(
      `${count} orders are mirrored`,
      async () => (await books.store.copying.findCopy(copyId))?.doneSeq === count,
      { askAgainMs: 100 },
    );
    const { body } = await bots.there.allOrders({ symbol: BUY.symbol });
    return body.length;
  };

  await buy();
  expect(await mirrored(1)).toBe(1);
  await endThread(gateway.output(), "copy/thread.ts");
  // The server still answers.
  await buy();
  expect(await mirrored(2)).toBe(2);
  expect(gateway.output()).toMatch(/"msg":"the copier's thread has ended; it is started again"/);
  await endThread(gateway.output(), "copy/thread.ts");
  await buy();
  expect(await mirrored(3)).toBe(3);
  expect(gateway.output().match(/it is started again/g)).toHaveLength(2);
  expect([await gateway.stop(), await venue.stop()]).toEqual([0, 0]);
});
