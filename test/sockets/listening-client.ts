// Clients that know an account from its user data events alone, once they have read its opening balance. What
// they know is put in the words of REST, so that it can be compared with REST to the last digit.

type Fields = Readonly<Record<string, unknown>>;
export type Row = Readonly<Record<string, unknown>>;

/** A client of a spot account. */
export class SpotListener {
  readonly orders = new Map<number, Row>();
  readonly trades: Row[] = [];
  readonly balances = new Map<string, Row>();
  readonly executionIds: number[] = [];
  updateTime = 0;

  hear(text: string): void {
    const event = JSON.parse(text) as Fields;
    if (Number(event.E) < Number(event.T ?? event.u)) throw new Error(`E is before T: ${text}`);
    if (event.e === "outboundAccountPosition") {
      this.updateTime = event.u as number;
      for (const { a, f, l } of event.B as Fields[])
        this.balances.set(String(a), { asset: a, free: f, locked: l });
    } else if (event.e === "executionReport") {
      this.#hearReport(event);
    } else {
      throw new Error(`an event that spot does not have: ${text}`);
    }
  }

  #hearReport(event: Fields): void {
    this.executionIds.push(event.I as number);
    const isCancel = event.x === "CANCELED";
    if (isCancel !== (event.C !== "") || (isCancel && event.c === event.C))
      throw new Error("a cancel has an id of its own, and nothing else has two");
    this.orders.set(event.i as number, {
      symbol: event.s,
      orderId: event.i,
      orderListId: event.g,
      clientOrderId: isCancel ? event.C : event.c,
      transactTime: event.T,
      price: event.p,
      origQty: event.q,
      executedQty: event.z,
      origQuoteOrderQty: event.Q,
      cummulativeQuoteQty: event.Z,
      status: event.X,
      timeInForce: event.f,
      type: event.o,
      side: event.S,
      stopPrice: event.P,
      icebergQty: event.F,
      time: event.O,
      updateTime: event.T,
      isWorking: "W" in event,
      workingTime: event.W ?? -1,
      selfTradePreventionMode: event.V,
      ...("eR" in event && { expiryReason: event.eR }),
    });
    if (event.x !== "TRADE") {
      if (event.t !== -1 || event.N !== null) throw new Error("only trades have an id and a fee");
      return;
    }
    this.trades.push({
      symbol: event.s,
      id: event.t,
      orderId: event.i,
      orderListId: event.g,
      price: event.L,
      qty: event.l,
      quoteQty: event.Y,
      commission: event.n,
      commissionAsset: event.N,
      time: event.T,
      isBuyer: event.S === "BUY",
      isMaker: event.m,
      isBestMatch: event.M,
    });
  }
}

/**
 * A client of a futures account. What no event carries (`cumQuote`, `quoteQty`, the words of `expiryReason`)
 * is not known.
 */
export class FuturesListener {
  readonly orders = new Map<number, Row>();
  readonly trades: Row[] = [];
  readonly legs = new Map<number, Row>();
  readonly legStates = new Map<number, string[]>();
  readonly positions = new Map<string, Row>();
  readonly leverages = new Map<string, unknown>();
  wallet: Row = {};
  /** Fills of TRADE_LITE that no ORDER_TRADE_UPDATE has repeated yet. */
  readonly #lite = new Map<unknown, Fields>();

  hear(text: string): void {
    const event = JSON.parse(text) as Fields;
    if (Number(event.E) < Number(event.T)) throw new Error(`E is before T: ${text}`);
    switch (event.e) {
      case "ORDER_TRADE_UPDATE":
        this.#hearOrder(event.o as Fields);
        return;
      case "ACCOUNT_UPDATE":
        this.#hearAccount(event.a as Fields);
        return;
      case "TRADE_LITE":
        this.#lite.set(event.t, event);
        return;
      case "ALGO_UPDATE":
        this.#hearLeg(event.o as Fields, event.T as number);
        return;
      case "ACCOUNT_CONFIG_UPDATE": {
        const { s, l } = event.ac as Fields;
        this.leverages.set(String(s), l);
        return;
      }
      default:
        throw new Error(`an event that futures do not have: ${text}`);
    }
  }

  #hearOrder(o: Fields): void {
    const known = this.orders.get(o.i as number);
    if (known === undefined && o.x !== "NEW") throw new Error(`the first of an order is NEW: ${o.i}`);
    this.orders.set(o.i as number, {
      orderId: o.i,
      symbol: o.s,
      status: o.X,
      clientOrderId: o.c,
      price: o.p,
      avgPrice: o.ap,
      origQty: o.q,
      executedQty: o.z,
      cumQty: o.z,
      timeInForce: o.f,
      type: o.o,
      origType: o.ot,
      reduceOnly: o.R,
      closePosition: o.cp,
      side: o.S,
      positionSide: o.ps,
      stopPrice: o.sp,
      workingType: o.wt,
      priceProtect: o.pP,
      priceMatch: o.pm,
      selfTradePreventionMode: o.V,
      goodTillDate: o.gtd,
      time: known?.time ?? o.T,
      updateTime: o.T,
    });
    if (o.t === 0) return;
    const lite = this.#lite.get(o.t);
    this.#lite.delete(o.t);
    if (o.x === "TRADE" && (lite === undefined || lite.L !== o.L || lite.l !== o.l || lite.i !== o.i))
      throw new Error(`a trade comes as TRADE_LITE first: ${o.t}`);
    this.trades.push({
      symbol: o.s,
      id: o.t,
      orderId: o.i,
      side: o.S,
      positionSide: o.ps,
      price: o.L,
      qty: o.l,
      realizedPnl: o.rp,
      commission: o.n,
      commissionAsset: o.N,
      time: o.T,
      buyer: o.S === "BUY",
      maker: o.m,
    });
  }

  #hearAccount({ B, P }: Fields): void {
    for (const { a, wb, cw } of B as Fields[])
      this.wallet = { asset: a, balance: wb, crossWalletBalance: cw };
    for (const row of P as Fields[])
      this.positions.set(String(row.s), {
        symbol: row.s,
        positionSide: row.ps,
        positionAmt: row.pa,
        entryPrice: row.ep,
        breakEvenPrice: row.bep,
        unRealizedProfit: row.up,
        isolatedWallet: row.iw,
        marginType: row.mt,
        marginAsset: row.ma,
      });
  }

  #hearLeg(o: Fields, at: number): void {
    const id = o.aid as number;
    const known = this.legs.get(id);
    if (known === undefined && o.X !== "NEW") throw new Error(`the first of a leg is NEW: ${id}`);
    this.legStates.set(id, [...(this.legStates.get(id) ?? []), String(o.X)]);
    this.legs.set(id, {
      algoId: o.aid,
      clientAlgoId: o.caid,
      algoType: o.at,
      orderType: o.o,
      symbol: o.s,
      side: o.S,
      positionSide: o.ps,
      timeInForce: o.f,
      quantity: o.q,
      algoStatus: o.X,
      actualOrderId: o.ai,
      actualType: o.act ?? "",
      triggerPrice: o.tp,
      price: o.p,
      selfTradePreventionMode: o.V,
      workingType: o.wt,
      priceMatch: o.pm,
      closePosition: o.cp,
      priceProtect: o.pP,
      reduceOnly: o.R,
      createTime: known?.createTime ?? at,
      triggerTime: o.tt,
      goodTillDate: o.gtd,
    });
  }
}
