import { chooseTheme, THEME_CHOICES, useThemeChoice } from "../../ui/theme.ts";

const LABELS = { system: "System", light: "Light", dark: "Dark" } as const;

/** Three choices side by side, as radio buttons. */
export function ThemeSwitch() {
  const chosen = useThemeChoice();
  return (
    <fieldset className="flex rounded-md border border-line text-xs">
      <legend className="sr-only">Theme</legend>
      {THEME_CHOICES.map((choice) => (
        <label
          key={choice}
          className="grow cursor-pointer rounded-sm px-2 text-center py-1 text-ink-soft hover:text-ink has-checked:bg-accent-soft has-checked:text-accent-ink has-focus-visible:outline-2 has-focus-visible:outline-accent"
        >
          <input
            type="radio"
            name="theme"
            className="sr-only"
            checked={chosen === choice}
            onChange={() => chooseTheme(choice)}
          />
          {LABELS[choice]}
        </label>
      ))}
    </fieldset>
  );
}
