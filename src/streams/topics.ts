// The topics of subscriptions, and the interface between their sources and subscribers.

export const LEVELS = [5, 10, 20] as const;
export const SPEEDS = ["1000ms", "100ms"] as const;
export type Levels = (typeof LEVELS)[number];
export type Speed = (typeof SPEEDS)[number];

export type CandleTopic = { readonly pair: string; readonly timeframe: string };
export type DepthTopic = { readonly pair: string; readonly levels: Levels; readonly speed: Speed };

/** A `marketData` message. Source: specification 6.3. */
export type MarketData = {
  readonly event: "kline";
  readonly pair: string;
  readonly timeframe: string;
  readonly candle: {
    readonly open: string;
    readonly high: string;
    readonly low: string;
    readonly close: string;
    readonly volume: string;
    readonly startTime: number;
    readonly closeTime: number;
    readonly isFinal: boolean;
  };
};

/** An `orderBook` message. Source: specification 6.4. */
export type OrderBook = {
  readonly event: "depth";
  readonly pair: string;
  readonly levels: Levels;
  readonly speed: Speed;
  readonly lastUpdateId: number;
  readonly bids: readonly (readonly [price: string, quantity: string])[];
  readonly asks: readonly (readonly [price: string, quantity: string])[];
};

/** Receives the data of topics, for all subscribers of the topic. */
export type Audience<Topic, Message> = {
  send(topic: Topic, message: Message): void;
  /** The source of the topic is out of reach; called once per outage. */
  unavailable(topic: Topic): void;
  /** The source is back. A message of the topic means the same, but a quiet topic has none. */
  available(topic: Topic): void;
  /** The topic cannot continue (its ids went back): its subscribers are disconnected and subscribe again. */
  broken(topic: Topic): void;
};

/** Where the data of topics comes from. */
export type Source<Topic> = {
  /**
   * Sends the data of a topic to its audience from now on, until released. A topic is followed once at a
   * time.
   */
  follow(topic: Topic): () => void;
  close(): void;
};
