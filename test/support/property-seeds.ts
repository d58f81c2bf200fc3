// Set up before each file of tests: properties draw from the tests' seed, too.
import { relative } from "node:path";
import fc from "fast-check";
import { expect } from "vitest";
import { testSeed } from "./seed.ts";

fc.configureGlobal({ seed: testSeed(relative(process.cwd(), expect.getState().testPath ?? "")) });
