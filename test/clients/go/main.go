// go-binance: its streams, user data and orders over the WebSocket API, as a bot of spot or of futures.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

const symbol = "BTCUSDT"

// How long anything may take.
const bound = 45 * time.Second

var kind, HTTP, KEY, SECRET = os.Args[1], os.Args[2], os.Args[3], os.Args[4]
var WS = strings.Replace(HTTP, "http", "ws", 1)

func main() {
	if kind == "spot" {
		liveSpot()
	} else {
		liveFutures()
	}
	fact("closed", values{})
}

type values map[string]any

// fact prints what the client has seen; the test compares it with REST.
func fact(name string, seen values) {
	seen["fact"] = name
	line, err := json.Marshal(seen)
	check(err)
	fmt.Println(string(line))
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// must returns a result, or ends the program.
func must[T any](result T, err error) T {
	check(err)
	return result
}

// first returns the first of the messages that satisfies a condition.
func first[T any](messages <-chan T, holds func(T) bool) T {
	late := time.After(bound)
	for {
		select {
		case message := <-messages:
			if holds(message) {
				return message
			}
		case <-late:
			panic("a message did not come in time")
		}
	}
}

func any1[T any](T) bool { return true }

// stream follows a stream of the client until it is stopped.
func stream[E any, H ~func(E)](serve func(H, func(error)) (chan struct{}, chan struct{}, error)) (<-chan E, func()) {
	messages := make(chan E, 1_000)
	done, stop, err := serve(func(event E) { messages <- event }, check)
	check(err)
	return messages, func() {
		close(stop)
		<-done
	}
}

// farBelow is a price at which a limit order rests.
func farBelow(price string) string {
	return strconv.Itoa(int(must(strconv.ParseFloat(price, 64)) * 0.9))
}
