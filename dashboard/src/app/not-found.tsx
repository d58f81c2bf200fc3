import { ButtonLink } from "../ui/links.tsx";
import { PageHeader } from "../ui/page-header.tsx";

export function NotFound() {
  return (
    <>
      <PageHeader
        title="There is no such page"
        lead="The address may be mistyped, or what it showed is gone."
      />
      <ButtonLink to="/">Go to the start page</ButtonLink>
    </>
  );
}
