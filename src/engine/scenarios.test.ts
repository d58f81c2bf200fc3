// Runs the tables in `scenarios/`: every line is a step, its outcome and what is held after it, to the last
// digit.
import { FUTURES } from "./testing/futures-setup.ts";
import { describeScenarios } from "./testing/scenario-tables.ts";
import { SPOT } from "./testing/spot-setup.ts";
import { STRICT_FUTURES, STRICT_SPOT } from "./testing/strict-steps.ts";

describeScenarios("spot", SPOT);
describeScenarios("futures", FUTURES);
describeScenarios("strict-spot", STRICT_SPOT);
describeScenarios("strict-futures", STRICT_FUTURES);
