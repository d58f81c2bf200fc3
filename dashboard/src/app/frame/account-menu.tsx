// Who is signed in, and what they can do about it: another profile, their security, signing out.
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { PersonJson } from "../../../../src/dashboard-api/schemas.ts";
import { SwitchProfileDialog } from "../../profile/switch-profile-dialog.tsx";
import { Menu, MenuItem, MenuLabel, MenuLine, MenuLink } from "../../ui/overlays/menu.tsx";
import { signOut } from "../sign-out.tsx";

export function AccountMenu({ person }: { person: PersonJson }) {
  const [isLeaving, setIsLeaving] = useState(false);
  const [isSwitching, setIsSwitching] = useState(false);
  const leave = () => {
    setIsLeaving(true);
    void signOut();
  };
  return (
    <>
      <Menu
        align="start"
        trigger={
          <button
            type="button"
            className="flex min-h-10 w-full min-w-0 items-center justify-between gap-2 rounded-md px-2 py-1 text-left hover:bg-hover"
            disabled={isLeaving}
          >
            <span className="min-w-0">
              <span title={person.name} className="block truncate font-medium text-sm">
                {person.name}
              </span>
              <span className="block text-ink-soft text-xs">{roleOf(person)}</span>
            </span>
            <span aria-hidden="true" className="text-ink-soft">
              ⋯
            </span>
          </button>
        }
      >
        <MenuLabel>{person.email}</MenuLabel>
        <MenuLine />
        {person.role === "PERSON" && (
          <MenuItem onSelect={() => setIsSwitching(true)}>
            Switch to {person.profile === "TRADER" ? "Copier" : "Trader"}
          </MenuItem>
        )}
        <MenuLink>
          <Link to="/security">Security</Link>
        </MenuLink>
        <MenuItem onSelect={leave}>Sign out</MenuItem>
      </Menu>
      <SwitchProfileDialog isOpen={isSwitching} onClose={() => setIsSwitching(false)} />
    </>
  );
}

function roleOf({ role, profile }: PersonJson): string {
  if (role === "OPERATOR") return "Operator";
  return profile === "TRADER" ? "Trader" : "Copier";
}
