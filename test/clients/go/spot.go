package main

import (
	"context"

	"github.com/adshao/go-binance/v2"
	"github.com/google/uuid"
)

func pointAtSpot() {
	binance.BaseAPIMainURL = HTTP
	binance.BaseWsMainURL = WS + "/ws"
	binance.BaseCombinedMainURL = WS + "/stream?streams="
	binance.BaseWsApiMainURL = WS + "/ws-api/v3"
}

func liveSpot() {
	pointAtSpot()
	price := watchSpot()

	client := binance.NewClient(KEY, SECRET)
	events, stop := stream(func(handle binance.WsUserDataHandler, fail func(error)) (chan struct{}, chan struct{}, error) {
		return binance.WsUserDataServeSignature(KEY, SECRET, "HMAC", 0, handle, fail)
	})
	report := func(id int64, status string) binance.WsOrderUpdate {
		return first(events, func(event *binance.WsUserDataEvent) bool {
			return event.OrderUpdate.Id == id && event.OrderUpdate.Status == status
		}).OrderUpdate
	}

	orders := must(binance.NewOrderCreateWsService(KEY, SECRET))
	limit := binance.NewOrderCreateWsRequest().Symbol(symbol).Side(binance.SideTypeBuy).
		Type(binance.OrderTypeLimit).TimeInForce(binance.TimeInForceTypeGTC).
		Quantity("0.001").Price(farBelow(price)).NewOrderRespType(binance.NewOrderRespTypeRESULT)
	placed := must(orders.SyncDo(uuid.NewString(), limit)).Result
	opened := report(placed.OrderID, "NEW")
	fact("placed", values{"orderId": placed.OrderID, "clientOrderId": opened.ClientOrderId, "price": opened.Price})
	must(client.NewCancelOrderService().Symbol(symbol).OrderID(placed.OrderID).Do(context.Background()))
	fact("canceled", values{"orderId": report(placed.OrderID, "CANCELED").Id})

	market := binance.NewOrderCreateWsRequest().Symbol(symbol).Side(binance.SideTypeBuy).
		Type(binance.OrderTypeMarket).Quantity("0.001").NewOrderRespType(binance.NewOrderRespTypeRESULT)
	bought := must(orders.SyncDo(uuid.NewString(), market)).Result
	filled := report(bought.OrderID, "FILLED")
	fact("filled", values{"orderId": bought.OrderID, "status": filled.Status, "quantity": filled.FilledVolume})
	fact("fill", values{
		"orderId": filled.Id, "tradeId": filled.TradeId, "price": filled.LatestPrice, "quantity": filled.LatestVolume,
	})
	position := first(events, func(event *binance.WsUserDataEvent) bool {
		return event.Event == binance.UserDataEventTypeOutboundAccountPosition
	})
	balances := values{}
	for _, row := range position.AccountUpdate.WsAccountUpdates {
		balances[row.Asset] = row.Free
	}
	fact("balance", balances)
	stop()
}

func watchSpot() string {
	tickers, stopTicker := stream(func(handle binance.WsMarketStatHandler, fail func(error)) (chan struct{}, chan struct{}, error) {
		return binance.WsMarketStatServe(symbol, handle, fail)
	})
	ticker := first(tickers, any1)
	fact("ticker", values{"symbol": ticker.Symbol, "last": ticker.LastPrice})
	stopTicker()

	trades, stopTrades := stream(func(handle binance.WsTradeHandler, fail func(error)) (chan struct{}, chan struct{}, error) {
		return binance.WsTradeServe(symbol, handle, fail)
	})
	trade := first(trades, any1)
	fact("trades", values{"symbol": trade.Symbol, "ids": []int64{trade.TradeID}})
	stopTrades()

	candles, stopCandles := stream(func(handle binance.WsKlineHandler, fail func(error)) (chan struct{}, chan struct{}, error) {
		return binance.WsCombinedKlineServe(map[string]string{symbol: "1m"}, handle, fail)
	})
	candle := first(candles, any1).Kline
	fact("candle", values{"time": candle.StartTime, "close": candle.Close})
	stopCandles()

	books, stopBooks := stream(func(handle binance.WsPartialDepthHandler, fail func(error)) (chan struct{}, chan struct{}, error) {
		return binance.WsPartialDepthServe100Ms(symbol, "5", handle, fail)
	})
	numbers := []int64{}
	book := first(books, any1)
	for numbers = append(numbers, book.LastUpdateID); len(numbers) < 3; {
		book = first(books, any1)
		numbers = append(numbers, book.LastUpdateID)
	}
	fact("book", values{"symbol": book.Symbol, "nonces": numbers, "bid": book.Bids[0].Price, "ask": book.Asks[0].Price})
	stopBooks()
	return ticker.LastPrice
}
