package main

import (
	"context"

	"github.com/adshao/go-binance/v2/futures"
	"github.com/google/uuid"
)

func pointAtFutures() {
	futures.BaseApiMainUrl = HTTP
	futures.BaseWsPublicMainUrl = WS + "/public/ws"
	futures.BaseWsMarketMainUrl = WS + "/market/ws"
	futures.BaseWsPrivateMainUrl = WS + "/private/ws"
	futures.BaseCombinedPublicMainURL = WS + "/public/stream?streams="
	futures.BaseCombinedMarketMainURL = WS + "/market/stream?streams="
	futures.BaseWsApiMainURL = WS + "/ws-fapi/v1"
}

func liveFutures() {
	pointAtFutures()
	price := watchFutures()

	client := futures.NewClient(KEY, SECRET)
	listenKey := must(client.NewStartUserStreamService().Do(context.Background()))
	events, stop := stream(func(handle futures.WsUserDataHandler, fail func(error)) (chan struct{}, chan struct{}, error) {
		return futures.WsUserDataServe(listenKey, handle, fail)
	})
	// The account's change comes before the report of the fill.
	account := futures.WsAccountUpdate{}
	report := func(id int64, status futures.OrderStatusType) futures.WsOrderTradeUpdate {
		return first(events, func(event *futures.WsUserDataEvent) bool {
			if event.Event == futures.UserDataEventTypeAccountUpdate {
				account = event.AccountUpdate
			}
			return event.OrderTradeUpdate.ID == id && event.OrderTradeUpdate.Status == status
		}).OrderTradeUpdate
	}

	orders := must(futures.NewOrderPlaceWsService(KEY, SECRET))
	limit := futures.NewOrderPlaceWsRequest().Symbol(symbol).Side(futures.SideTypeBuy).
		Type(futures.OrderTypeLimit).TimeInForce(futures.TimeInForceTypeGTC).
		Quantity("0.004").Price(farBelow(price))
	placed := must(orders.SyncDo(uuid.NewString(), limit)).Result
	opened := report(placed.OrderID, "NEW")
	fact("placed", values{"orderId": placed.OrderID, "clientOrderId": opened.ClientOrderID, "price": opened.OriginalPrice})
	cancels := must(futures.NewOrderCancelWsService(KEY, SECRET))
	cancel := futures.NewOrderCancelRequest().Symbol(symbol).OrderID(placed.OrderID)
	must(cancels.SyncDo(uuid.NewString(), cancel))
	fact("canceled", values{"orderId": report(placed.OrderID, "CANCELED").ID})

	market := futures.NewOrderPlaceWsRequest().Symbol(symbol).Side(futures.SideTypeBuy).
		Type(futures.OrderTypeMarket).Quantity("0.004").NewOrderResponseType(futures.NewOrderRespTypeRESULT)
	bought := must(orders.SyncDo(uuid.NewString(), market)).Result
	filled := report(bought.OrderID, "FILLED")
	fact("filled", values{"orderId": bought.OrderID, "status": filled.Status, "quantity": filled.AccumulatedFilledQty})
	fact("fill", values{
		"orderId": filled.ID, "tradeId": filled.TradeID, "price": filled.LastFilledPrice, "quantity": filled.LastFilledQty,
	})
	balances := values{}
	for _, row := range account.Balances {
		balances[row.Asset] = row.Balance
	}
	fact("balance", balances)
	fact("position", values{"quantity": account.Positions[0].Amount})
	stop()
}

func watchFutures() string {
	tickers, stopTicker := stream(func(handle futures.WsMarketTickerHandler, fail func(error)) (chan struct{}, chan struct{}, error) {
		return futures.WsMarketTickerServe(symbol, handle, fail)
	})
	ticker := first(tickers, any1)
	fact("ticker", values{"symbol": ticker.Symbol, "last": ticker.ClosePrice})
	stopTicker()

	trades, stopTrades := stream(func(handle futures.WsAggTradeHandler, fail func(error)) (chan struct{}, chan struct{}, error) {
		return futures.WsAggTradeServe(symbol, handle, fail)
	})
	trade, ids := first(trades, any1), []int64{}
	for id := trade.FirstTradeID; id <= trade.LastTradeID; id++ {
		ids = append(ids, id)
	}
	fact("trades", values{"symbol": trade.Symbol, "ids": ids})
	stopTrades()

	candles, stopCandles := stream(func(handle futures.WsKlineHandler, fail func(error)) (chan struct{}, chan struct{}, error) {
		return futures.WsCombinedKlineServe(map[string]string{symbol: "1m"}, handle, fail)
	})
	candle := first(candles, any1).Kline
	fact("candle", values{"time": candle.StartTime, "close": candle.Close})
	stopCandles()

	books, stopBooks := stream(func(handle futures.WsDepthHandler, fail func(error)) (chan struct{}, chan struct{}, error) {
		return futures.WsPartialDepthServe(symbol, 5, handle, fail)
	})
	numbers := []int64{}
	book := first(books, any1)
	for numbers = append(numbers, book.LastUpdateID); len(numbers) < 3; {
		book = first(books, any1)
		numbers = append(numbers, book.LastUpdateID)
	}
	fact("book", values{"symbol": book.Symbol, "nonces": numbers, "bid": book.Bids[0].Price, "ask": book.Asks[0].Price})
	stopBooks()
	return ticker.ClosePrice
}
