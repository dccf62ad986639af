// Frameworks that have a server, and frameworks that write folders.

import { afterAll } from "vitest";
import { closeBrowser, isolation } from "../places.js";
import { node24, type Tool, testTools, tool } from "./tools.js";

afterAll(closeBrowser);

const headers = JSON.stringify(isolation);

/** Next takes names and values in a list. */
const listed = JSON.stringify(Object.entries(isolation).map(([key, value]) => ({ key, value })));

const next: Tool["files"] = {
  "next.config.mjs": `
    export default {
      headers: async () => [{ source: "/:path*", headers: ${listed} }],
      turbopack: { root: import.meta.dirname + "/.." }, // where the test has its packages
    };`,
  "app/layout.js":
    'export default ({ children }) => <html lang="en"><body>{children}</body></html>;',
  "app/page.js": `
    "use client";
    import { useEffect } from "react";
    import { start } from "../start.js";
    export default function Page() {
      useEffect(start, []);
      return "Heed";
    }`,
  "app/api/route.js": `
    import { report } from "../../report.js";
    export const dynamic = "force-dynamic";
    export const GET = async () => Response.json(await report().catch(String));`,
};

const nextTool = (name: string, bundler: string, isBuilt: boolean): Tool => {
  const program = tool("next/dist/bin/next");
  const address = (port: string) => ["-H", "127.0.0.1", "-p", port];
  return {
    place: "Next.js 16, Turbopack and webpack, page and server",
    name,
    files: next,
    ...(isBuilt && { build: [program, "build", bundler] }),
    serve: (port) =>
      isBuilt ? [program, "start", ...address(port)] : [program, "dev", bundler, ...address(port)],
    server: "/api",
  };
};

const svelteKit: Tool["files"] = {
  "vite.config.js": `
    import adapter from "@sveltejs/adapter-node";
    import { sveltekit } from "@sveltejs/kit/vite";
    export default { plugins: [sveltekit({ adapter: adapter() })] };`,
  "src/app.html":
    "<!doctype html><html><head>%sveltekit.head%</head><body>%sveltekit.body%</body></html>",
  "src/routes/+page.svelte": `
    <script>
      import { onMount } from "svelte";
      import { start } from "../../start.js";
      onMount(start);
    </script>`,
  "src/routes/api/+server.js": `
    import { report } from "../../../report.js";
    export const GET = async () => Response.json(await report().catch(String));`,
  "src/hooks.server.js": `
    export async function handle({ event, resolve }) {
      const response = await resolve(event);
      for (const [name, value] of Object.entries(${headers})) response.headers.set(name, value);
      return response;
    }`,
};

const astro: Tool["files"] = {
  "astro.config.mjs": `export default { server: { headers: ${headers} } };`,
  "src/pages/index.astro": `
    <html lang="en"><head><title>Heed</title></head><body>
    <script>import { start } from "../../start.js"; start();</script>
    </body></html>`,
};

const nuxt: Tool["files"] = {
  "nuxt.config.js": `
    export default defineNuxtConfig({
      compatibilityDate: "2026-01-01",
      routeRules: { "/**": { headers: ${headers} } },
    });`,
  "app/app.vue": `
    <script setup>
    import { start } from "../start.js";
    onMounted(start);
    </script>
    <template><p>Heed</p></template>`,
  "server/routes/api.js": `
    import { report } from "~~/report.js";
    export default defineEventHandler(() => report().catch(String));`,
};

const angular: Tool["files"] = {
  "angular.json": JSON.stringify({
    version: 1,
    projects: {
      page: {
        projectType: "application",
        root: "",
        sourceRoot: "src",
        architect: {
          build: {
            builder: "@angular/build:application",
            options: {
              browser: "src/main.ts",
              index: "src/index.html",
              assets: [
                { glob: "{heed-*,workerThread.js}", input: "node_modules/heed/dist", output: "/" },
              ],
              outputPath: "dist",
              tsConfig: "tsconfig.json",
            },
          },
          serve: {
            builder: "@angular/build:dev-server",
            options: { buildTarget: "page:build", headers: isolation },
          },
        },
      },
    },
  }),
  "tsconfig.json": JSON.stringify({
    compilerOptions: {
      ...{ target: "ES2022", module: "preserve", moduleResolution: "bundler", allowJs: true },
      ...{ lib: ["ES2022", "DOM"], types: [], skipLibCheck: true, experimentalDecorators: true },
    },
    files: ["src/main.ts"],
  }),
  "src/index.html": "<!doctype html><title>Heed</title><heed-page></heed-page>",
  "src/main.ts": `
    import { Component } from "@angular/core";
    import { bootstrapApplication } from "@angular/platform-browser";
    import { start } from "../start.js";
    @Component({ selector: "heed-page", template: "Heed" })
    class Page {
      constructor() {
        start();
      }
    }
    bootstrapApplication(Page);`,
};

testTools([
  nextTool("next-turbopack", "--turbopack", true),
  nextTool("next-webpack", "--webpack", true),
  nextTool("next-dev", "--turbopack", false),
  {
    place: "SvelteKit 3 with adapter-node, page and server",
    name: "sveltekit",
    files: svelteKit,
    program: node24,
    build: [tool("vite/bin/vite.js"), "build"],
    serve: () => ["build"],
    server: "/api",
  },
  {
    place: "SvelteKit 3 with adapter-node, page and server",
    name: "sveltekit-dev",
    files: svelteKit,
    program: node24,
    serve: (port) => [tool("vite/bin/vite.js"), "dev", "--host", "127.0.0.1", "--port", port],
    server: "/api",
  },
  {
    place: "Astro 7, build and development server",
    name: "astro",
    files: astro,
    program: node24,
    build: [tool("astro/bin/astro.mjs"), "build"],
    serve: "dist",
  },
  {
    place: "Astro 7, build and development server",
    name: "astro-dev",
    files: astro,
    program: node24,
    serve: (port) => [tool("astro/bin/astro.mjs"), "dev", "--host", "127.0.0.1", "--port", port],
  },
  {
    place: "Nuxt 4, page and server",
    name: "nuxt",
    files: nuxt,
    program: node24,
    build: [tool("nuxt/bin/nuxt.mjs"), "build"],
    serve: () => [".output/server/index.mjs"],
    server: "/api",
  },
  {
    place: "Nuxt 4, page and server",
    name: "nuxt-dev",
    files: nuxt,
    program: node24,
    serve: (port) => [tool("nuxt/bin/nuxt.mjs"), "dev", "--host", "127.0.0.1", "--port", port],
    server: "/api",
  },
  {
    place: "Angular 22, build and development server",
    name: "angular",
    files: angular,
    program: node24,
    build: [tool("@angular/cli/bin/ng.js"), "build"],
    serve: "dist/browser",
  },
  {
    place: "Angular 22, build and development server",
    name: "angular-dev",
    files: angular,
    program: node24,
    serve: (port) => [
      ...[tool("@angular/cli/bin/ng.js"), "serve", "--host", "127.0.0.1", "--port", port],
    ],
  },
]);
