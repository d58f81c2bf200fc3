// How the web application is built: into dist/, every page a chunk, every name under assets/ with a hash of its content.
// The server forbids inline scripts and foreign origins, so nothing is inlined into the page or into its scripts.
import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

const SERVER = "http://127.0.0.1:8080";

export default defineConfig({
  root: import.meta.dirname,
  base: "/",
  plugins: [react(), tailwindcss()],
  build: {
    outDir: "dist",
    emptyOutDir: true,
    assetsDir: "assets",
    assetsInlineLimit: 0,
    sourcemap: false,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    target: "es2023",
  },
  server: {
    proxy: {
      "/dashboard": { target: SERVER },
      "/socket.io": { target: SERVER, ws: true },
    },
  },
});
