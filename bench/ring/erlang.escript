#!/usr/bin/env escript
%% SPDX-License-Identifier: Apache-2.0
%%! +S 2:2 +sbt db
%% The peer `erlang` of `ingot bench ring`: two processes on two schedulers, which are bound to a core each; or, without
%% CPUs to choose, where Erlang places them.
-mode(compile).
-define(BATCH, 64).
-define(MOST_UNDER_WAY, 1536).

main([Trips, Messages, Cpu, _]) ->
    Places = case Cpu of "-1" -> {[], []}; _ -> {[{scheduler, 1}], [{scheduler, 2}]} end,
    Main = self(),
    {Here, _} = Places,
    spawn_opt(fun() -> Main ! measure(list_to_integer(Trips), list_to_integer(Messages), Places) end, [link | Here]),
    receive Line -> io:put_chars(Line) end.

measure(Trips, Messages, {_, There}) ->
    Samples = lists:sort(round_trips(Trips, There)),
    Rate = one_way(Messages, There, fun pour/4, fun drain/3),
    Sealed = one_way(Messages, There, fun pour_sealed/4, fun drain_sealed/3),
    [P50, P99, P999] = [lists:nth(Trips * Part div 1000 + 1, Samples) || Part <- [500, 990, 999]],
    io_lib:format("~b ~b ~b ~b ~b~n", [P50, P99, P999, round(Rate), round(Sealed)]).

round_trips(Count, There) ->
    Echo = spawn_opt(fun echo/0, [link | There]),
    ask(Echo, Count, []).

echo() -> receive {From, Number, Value} -> From ! {self(), Number, Value}, echo() end.

ask(_, 0, Samples) -> Samples;
ask(Echo, Left, Samples) ->
    Start = erlang:monotonic_time(nanosecond),
    Echo ! {self(), Left, 0},
    receive {Echo, Left, _} -> ok end,
    ask(Echo, Left - 1, [erlang:monotonic_time(nanosecond) - Start | Samples]).

%% As between ring kernels: the source sends while few are under way, which the sink tells it now and then.
one_way(Count, There, Pour, Drain) ->
    Source = self(),
    Sink = spawn_opt(fun() -> Drain(Source, 0, Count) end, [link | There]),
    Start = erlang:monotonic_time(nanosecond),
    Pour(Sink, 0, 0, Count),
    Count * 1.0e9 / (erlang:monotonic_time(nanosecond) - Start).

pour(Sink, Sent, Arrived, Count) when Sent < Count, Sent - Arrived < ?MOST_UNDER_WAY ->
    Sink ! {self(), Sent, Count},
    pour(Sink, Sent + 1, Arrived, Count);
pour(_, _, Arrived, Count) when Arrived =:= Count -> ok;
pour(Sink, Sent, _, Count) ->
    receive {Sink, Number} -> pour(Sink, Sent, Number + 1, Count) end.

drain(_, Count, Count) -> ok;
drain(Source, Number, Count) ->
    receive {Source, Number, _} -> ok end,
    Tells = (Number rem ?BATCH =:= ?BATCH - 1) orelse (Number + 1 =:= Count),
    Tells andalso (Source ! {self(), Number}),
    drain(Source, Number + 1, Count).

%% The same with the contract of ring kernels: a header of 256 bytes with an id, a moment of the sender's hybrid logical
%% clock and the CRC-32 of the payload, which the receiver checks; it takes in the moment.
pour_sealed(Sink, Sent, Arrived, Count) -> pour_sealed(Sink, Sent, Arrived, Count, {0, 0}).

pour_sealed(Sink, Sent, Arrived, Count, Clock) when Sent < Count, Sent - Arrived < ?MOST_UNDER_WAY ->
    {Physical, Logical} = Now = tick(Clock, erlang:system_time(microsecond)),
    Payload = <<Sent:64, Count:64>>,
    Sink ! {self(), <<Sent:64, Physical:64, Logical:64, 16:64, (erlang:crc32(Payload)):32, 0:1760, Payload/binary>>},
    pour_sealed(Sink, Sent + 1, Arrived, Count, Now);
pour_sealed(_, _, Arrived, Count, _) when Arrived =:= Count -> ok;
pour_sealed(Sink, Sent, _, Count, Clock) ->
    receive {Sink, Number} -> pour_sealed(Sink, Sent, Number + 1, Count, Clock) end.

tick({Physical, _}, Wall) when Wall > Physical -> {Wall, 0};
tick({Physical, Logical}, _) -> {Physical, Logical + 1}.

drain_sealed(Source, Number, Count) -> drain_sealed(Source, Number, Count, {0, 0}).

drain_sealed(_, Count, Count, _) -> ok;
drain_sealed(Source, Number, Count, {Physical, Logical}) ->
    receive {Source, <<_:64, P:64, L:64, 16:64, Sum:32, _:1760, Payload:16/binary>>} ->
        Sum = erlang:crc32(Payload),
        <<Number:64, _:64>> = Payload,
        Clock = max({Physical, Logical + 1}, max({P, L + 1}, {erlang:system_time(microsecond), 0})),
        Tells = (Number rem ?BATCH =:= ?BATCH - 1) orelse (Number + 1 =:= Count),
        Tells andalso (Source ! {self(), Number}),
        drain_sealed(Source, Number + 1, Count, Clock)
    end.
