// What is tested must not depend on the settings of whoever tests, and above all not reach his database.
import { SETTING_NAMES } from "../../src/config/config.ts";

/** Takes the settings of Lyrebird out of the environment of this process, and of all that it starts. */
export function forgetSettings(): void {
  for (const name of SETTING_NAMES) delete process.env[name];
}
