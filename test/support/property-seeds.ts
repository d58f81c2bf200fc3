// Set up before each file of tests: properties draw from the tests' seed, too.
import fc from "fast-check";
import { testSeed } from "./seed.ts";

fc.configureGlobal({ seed: testSeed() });
