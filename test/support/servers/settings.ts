// Tests must not depend on the settings in the developer's environment, and must never reach their database.
import { SETTING_NAMES } from "../../../src/config/config.ts";

/** Takes the settings of Lyrebird out of the environment of this process, and of all that it starts. */
export function forgetSettings(): void {
  for (const name of SETTING_NAMES) delete process.env[name];
}
