import { expect, test } from "vitest";
import { COUNTRIES } from "../../../../src/people/kyc/countries.ts";
import { COUNTRY_OPTIONS, countryName } from "./countries.ts";

test("offers the countries that the server takes, each once", () => {
  const codes = COUNTRY_OPTIONS.map(({ value }) => value);
  expect([...codes].sort()).toEqual([...COUNTRIES].sort());
});

test("names them in English, in the order of their names", () => {
  expect(countryName("DE")).toBe("Germany");
  const labels = COUNTRY_OPTIONS.map(({ label }) => label);
  expect(labels.indexOf("Åland Islands")).toBeLessThan(labels.indexOf("Albania"));
  expect(labels.indexOf("Germany")).toBeLessThan(labels.indexOf("Ghana"));
});
