// Where the web application begins.
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { queryClient, watchUse } from "./api/call.ts";
import { focusHeadings } from "./app/focus.ts";
import { router } from "./app/router.tsx";
import "./ui/theme.css";

const place = document.getElementById("root");
if (place === null) throw new Error("the page has a place for the application");

watchUse();
focusHeadings(router);
createRoot(place).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>,
);
