// `npm run <name>` runs the campaign of that name.
import { type Campaign, runCampaign } from "./harness/campaign.ts";

const CAMPAIGNS: Readonly<Record<string, () => Promise<{ readonly CAMPAIGN: unknown }>>> = {
  crash: () => import("./crash/campaign.ts"),
  "copy-faults": () => import("./copy-faults/campaign.ts"),
  fire: () => import("./fire/campaign.ts"),
  fuzz: () => import("./fuzz/campaign.ts"),
  hostile: () => import("./hostile/campaign.ts"),
  soak: () => import("./soak/campaign.ts"),
  walk: () => import("./walk/campaign.ts"),
};

const chosen = CAMPAIGNS[process.argv[2] ?? ""];
if (chosen === undefined) throw new Error(`a campaign is one of ${Object.keys(CAMPAIGNS).join(", ")}`);
await runCampaign((await chosen()).CAMPAIGN as Campaign);
