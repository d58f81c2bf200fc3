// The chart itself: the library's canvas, its candles, markers and lines. Numbers become floats here, where
// they become pixels, and nowhere else.
import {
  type AutoscaleInfo,
  CandlestickSeries,
  CrosshairMode,
  createChart,
  createSeriesMarkers,
  HistogramSeries,
  type IPriceLine,
  LineStyle,
  type SeriesMarker,
  TickMarkType,
  type Time,
} from "lightweight-charts";
import type { CandleJson } from "../../../../../src/dashboard-api/schemas.ts";
import { grouped } from "../../../ui/figures/decimals.ts";
import { LOCALE, ZONE } from "../../../ui/figures/figures.tsx";
import { barOf, newsOf, secondsOf, volumeOf, withLines } from "./bars.ts";
import type { FillMarker, LineKind, PriceLine } from "./overlays.ts";
import type { Palette } from "./palette.ts";

/** Candles to the left that are left when older ones are asked for. */
const NEARLY_AT_START = 20;
/** Candles that would have room beside the newest, where the labels of lines stand. */
const ROOM_AT_RIGHT = 12;
const FONT_SIZE = 11;
const MARKER = "fill:";
/** Part of the chart's height that is left to volumes. */
const VOLUME_TOP = 0.84;

export type ChartListeners = {
  /** The candle under the crosshair; null when it is on none. */
  readonly onHover: (openTime: number | null) => void;
  readonly onOrder: (orderId: number) => void;
  readonly onNearlyAtStart: () => void;
};
export type PaintedChart = ReturnType<typeof paintChart>;

export function paintChart(container: HTMLElement, listeners: ChartListeners) {
  const chart = createChart(container, {
    autoSize: true,
    layout: { attributionLogo: false, fontSize: FONT_SIZE },
    localization: { locale: LOCALE },
    crosshair: { mode: CrosshairMode.Normal },
    timeScale: { rightOffset: ROOM_AT_RIGHT, secondsVisible: false, timeVisible: true },
    // A page with a chart must still be scrolled over.
    handleScroll: { mouseWheel: true, pressedMouseMove: true, horzTouchDrag: true, vertTouchDrag: false },
  });
  const series = chart.addSeries(CandlestickSeries, {
    borderVisible: false,
    autoscaleInfoProvider: (candlesAlone: () => AutoscaleInfo | null) =>
      withLines(candlesAlone(), prices, reach),
  });
  const volumes = chart.addSeries(HistogramSeries, {
    priceFormat: { type: "volume" },
    priceScaleId: "volume",
    lastValueVisible: false,
    priceLineVisible: false,
  });
  chart.priceScale("volume").applyOptions({ scaleMargins: { top: VOLUME_TOP, bottom: 0 } });
  chart.priceScale("right").applyOptions({ scaleMargins: { top: 0.08, bottom: 0.2 } });
  const markers = createSeriesMarkers(series, []);
  let lines: IPriceLine[] = [];
  let prices: readonly number[] = [];
  let reach = NEAR_REACH;
  let painted: readonly CandleJson[] = [];
  let palette: Palette | null = null;

  chart.subscribeCrosshairMove(({ time }) =>
    listeners.onHover(time === undefined ? null : Number(time) * 1_000),
  );
  chart.subscribeClick(({ hoveredObjectId }) => {
    if (typeof hoveredObjectId !== "string" || !hoveredObjectId.startsWith(MARKER)) return;
    listeners.onOrder(Number(hoveredObjectId.slice(MARKER.length)));
  });
  chart.timeScale().subscribeVisibleLogicalRangeChange((range) => {
    if (range !== null && painted.length > 0 && range.from < NEARLY_AT_START) listeners.onNearlyAtStart();
  });

  return {
    remove: () => chart.remove(),

    setLook(colours: Palette, priceDecimals: number, intervalMs: number): void {
      palette = colours;
      const labels = timeLabels(intervalMs);
      chart.applyOptions({
        layout: {
          background: { color: colours.ground },
          textColor: colours.text,
          fontFamily: getComputedStyle(container).fontFamily,
        },
        grid: { vertLines: { color: colours.grid }, horzLines: { color: colours.grid } },
        crosshair: {
          vertLine: { color: colours.edge, labelBackgroundColor: colours.crosshairLabel },
          horzLine: { color: colours.edge, labelBackgroundColor: colours.crosshairLabel },
        },
        localization: {
          timeFormatter: labels.full,
          priceFormatter: (price: number) => grouped(price.toFixed(priceDecimals)),
        },
        timeScale: { borderColor: colours.edge, tickMarkFormatter: labels.tick },
      });
      chart.priceScale("right").applyOptions({ borderColor: colours.edge });
      series.applyOptions({
        upColor: colours.rise,
        wickUpColor: colours.rise,
        downColor: colours.fall,
        wickDownColor: colours.fall,
        priceFormat: { type: "price", precision: priceDecimals, minMove: 10 ** -priceDecimals },
      });
      volumes.setData(painted.map((candle) => volumeOf(candle, colours)));
    },

    /** All of them, or, where nothing but the end is new, the end. */
    setCandles(candles: readonly CandleJson[]): void {
      if (palette === null) throw new Error("a chart has its look before its candles");
      const colours = palette;
      const isFirst = painted.length === 0;
      const news = newsOf(painted, candles);
      painted = candles;
      if (news === null) {
        series.setData(candles.map(barOf));
        volumes.setData(candles.map((candle) => volumeOf(candle, colours)));
      } else {
        for (const candle of news) {
          series.update(barOf(candle));
          volumes.update(volumeOf(candle, colours));
        }
      }
      if (isFirst && candles.length > 0) showNewest();
    },

    setMarkers(fills: readonly FillMarker[]): void {
      if (palette === null) return;
      const { buy, sell } = palette;
      markers.setMarkers(
        fills.map(
          ({ openTime, orderId, side, orders }): SeriesMarker<Time> => ({
            time: secondsOf(openTime),
            position: side === "BUY" ? "belowBar" : "aboveBar",
            shape: side === "BUY" ? "arrowUp" : "arrowDown",
            color: side === "BUY" ? buy : sell,
            id: `${MARKER}${orderId}`,
            ...(orders > 1 ? { text: `×${orders}` } : {}),
          }),
        ),
      );
    },

    setLines(wanted: readonly PriceLine[]): void {
      if (palette === null) return;
      for (const line of lines) series.removePriceLine(line);
      const { lines: colours, onLine } = palette;
      prices = wanted.map(({ price }) => Number(price));
      lines = wanted.map(({ id, kind, price, label }) =>
        series.createPriceLine({
          id,
          price: Number(price),
          color: colours[kind],
          axisLabelTextColor: onLine,
          lineStyle: STYLES[kind],
          lineWidth: kind === "entry" || kind === "liquidation" ? 2 : 1,
          title: label,
        }),
      );
    },

    /** Whether lines that lie far from the candles are in sight as well. */
    fitLines(isWanted: boolean): void {
      reach = isWanted ? Number.POSITIVE_INFINITY : NEAR_REACH;
      chart.priceScale("right").applyOptions({ autoScale: true });
      // The library recomputes the scale when its series changes.
      series.applyOptions({});
    },

    /** In the middle, with what was around it. */
    showAt(place: number): void {
      chart.timeScale().setVisibleLogicalRange({ from: place - SHOWN / 2, to: place + SHOWN / 2 });
    },
    showNewest,
    /** By a part of what is visible; negative is into the past. */
    move(part: number): void {
      const range = chart.timeScale().getVisibleLogicalRange();
      if (range === null) return;
      const by = (range.to - range.from) * part;
      chart.timeScale().setVisibleLogicalRange({ from: range.from + by, to: range.to + by });
    },
    /** More than one shows more candles; what is at the right stays there. */
    zoom(factor: number): void {
      const range = chart.timeScale().getVisibleLogicalRange();
      if (range === null) return;
      chart
        .timeScale()
        .setVisibleLogicalRange({ from: range.to - (range.to - range.from) * factor, to: range.to });
    },
  };

  function showNewest(): void {
    const shown = Math.min(SHOWN, Math.max(30, Math.round(container.clientWidth / 7)));
    chart.timeScale().setVisibleLogicalRange({
      from: painted.length - shown,
      to: painted.length - 1 + ROOM_AT_RIGHT,
    });
  }
}

/** Candles that are seen at once on a wide screen. */
const SHOWN = 140;

/** Lines within so many times the height of the candles, above and below them, are always in sight. */
const NEAR_REACH = 0.6;

const STYLES: Readonly<Record<LineKind, LineStyle>> = {
  entry: LineStyle.Solid,
  liquidation: LineStyle.Solid,
  "take-profit": LineStyle.Dashed,
  "stop-loss": LineStyle.Dashed,
  buy: LineStyle.Dotted,
  sell: LineStyle.Dotted,
  stop: LineStyle.LargeDashed,
};

// Times below the chart, in UTC: candles of a day and longer begin at midnight UTC.

type Labels = {
  /** At the crosshair. */
  readonly full: (time: Time) => string;
  /** At the axis. */
  readonly tick: (time: Time, type: TickMarkType) => string;
};

function timeLabels(intervalMs: number): Labels {
  const isDaily = intervalMs >= 86_400_000;
  const format = (options: Intl.DateTimeFormatOptions) => {
    const formatter = new Intl.DateTimeFormat(LOCALE, { ...options, timeZone: ZONE });
    return (time: Time) => formatter.format(Number(time) * 1_000);
  };
  const day = { day: "2-digit", month: "short" } as const;
  const clock = { hour: "2-digit", minute: "2-digit" } as const;
  const full = format(isDaily ? { ...day, year: "numeric" } : { ...day, year: "numeric", ...clock });
  const ticks = {
    [TickMarkType.Year]: format({ year: "numeric" }),
    [TickMarkType.Month]: format({ month: "short" }),
    [TickMarkType.DayOfMonth]: format(day),
    [TickMarkType.Time]: format(clock),
    [TickMarkType.TimeWithSeconds]: format({ ...clock, second: "2-digit" }),
  };
  return {
    full: isDaily ? full : (time) => `${full(time)} ${ZONE}`,
    tick: (time, type) => ticks[type](time),
  };
}
