import { Link } from "@tanstack/react-router";
import { buttonLook } from "../ui/button.tsx";
import { PageHeader } from "../ui/page-header.tsx";

export function NotFound() {
  return (
    <>
      <PageHeader
        title="There is no such page"
        lead="The address may be mistyped, or what it showed is gone."
      />
      <Link to="/" className={buttonLook("primary")}>
        Go to the start page
      </Link>
    </>
  );
}
