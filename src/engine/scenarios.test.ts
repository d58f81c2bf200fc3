// Runs the tables in `scenarios/`: every line is a step, its outcome and what is held after it, to the last
// digit.
import { FUTURES } from "./testing/futures-family.ts";
import { describeScenarios } from "./testing/scenario-tables.ts";
import { SPOT } from "./testing/spot-family.ts";

describeScenarios("spot", SPOT);
describeScenarios("futures", FUTURES);
