// Rejects passwords that are guessed first: common ones and their variations, repetitions, sequences, runs of
// keys, dates, the words of this service, and parts of the person's name and address. zxcvbn estimates the
// guesses. Its dictionary takes a tenth of a second and 30 MB, so it is loaded when somebody first chooses a
// password.
import type { ZxcvbnFactory } from "@zxcvbn-ts/core";

/**
 * A password must need at least this number of guesses, as a power of ten. Source: zxcvbn's score of 3,
 * "safely unguessable" online.
 */
const GUESSES_LOG10_MIN = 8;
/**
 * Characters that are checked: more do not make a password weaker, and the time grows with the square of the
 * length.
 */
const ESTIMATED_LENGTH_MAX = 40;
/**
 * Spellings such as "P@ssw0rd" that are tried for one password: each takes as long as the password itself.
 */
const SPELLINGS_MAX = 8;
/** Shorter parts of a name or of an address are ignored, since too many words contain them, characters. */
const PERSONAL_LENGTH_MIN = 3;

/** Words that this page suggests, and the example that everybody has seen. */
const NEAR_AT_HAND = [
  ...["lyrebird", "lyrebirds", "trading", "tradingbot", "trader", "copytrading", "strategy"],
  ...["bitcoin", "ethereum", "binance", "crypto", "tether", "futures"],
  ...["correct horse battery staple", "correcthorsebatterystaple"],
];

/** The person that a password is for. */
export type Chooser = { readonly email: string; readonly name: string };

const INSTEAD = "Use four or more words that don’t belong together.";
const EASY_TO_GUESS = `This password is easy to guess. ${INSTEAD}`;
const COMMON = `This password is common, or close to one that is. ${INSTEAD}`;
const REPEATS = `This password repeats itself. ${INSTEAD}`;
const KEYS = `This password is a run of keys. ${INSTEAD}`;
const DATE = `This password is little more than a date. ${INSTEAD}`;

/** By zxcvbn's names for what it found. */
const FAULTS: Readonly<Record<string, string>> = {
  straightRow: KEYS,
  keyPattern: KEYS,
  simpleRepeat: REPEATS,
  extendedRepeat: REPEATS,
  sequences: `This password is a sequence, such as “abc” or “6543”. ${INSTEAD}`,
  recentYears: DATE,
  dates: DATE,
  topTen: COMMON,
  topHundred: COMMON,
  common: COMMON,
  similarToCommon: COMMON,
  userInputs: `This password is made of your name, your address, or what this service is about. ${INSTEAD}`,
};

/** Long enough to pass through every step of the estimate. */
const NOTHING_SECRET = "Nothing secret at all, 2000-01-01 p@ss 1234 aaa";

let loaded: Promise<ZxcvbnFactory> | null = null;

/** Why a password is too easy to guess, and what to do, for the person who chose it; null if it is not. */
export async function strengthFault(password: string, chooser: Chooser): Promise<string | null> {
  loaded ??= load();
  const checked = [...password].slice(0, ESTIMATED_LENGTH_MAX).join("");
  const estimator = await loaded;
  const { guessesLog10, feedback } = estimator.check(checked, [...NEAR_AT_HAND, ...partsOf(chooser)]);
  // The estimator and regular expressions keep their last input: this replaces the password in memory.
  estimator.check(NOTHING_SECRET, []);
  if (guessesLog10 >= GUESSES_LOG10_MIN) return null;
  return FAULTS[feedback.warning ?? ""] ?? EASY_TO_GUESS;
}

function partsOf({ email, name }: Chooser): readonly string[] {
  const words = [email, name].flatMap((text) => [text, ...text.split(/[^\p{L}\p{N}]+/u)]);
  return words.map((word) => word.toLowerCase()).filter(({ length }) => length >= PERSONAL_LENGTH_MIN);
}

async function load(): Promise<ZxcvbnFactory> {
  const [{ ZxcvbnFactory }, { adjacencyGraphs, dictionary }] = await Promise.all([
    import("@zxcvbn-ts/core"),
    import("@zxcvbn-ts/language-common"),
  ]);
  return new ZxcvbnFactory({ dictionary, graphs: adjacencyGraphs, l33tMaxSubstitutions: SPELLINGS_MAX });
}
