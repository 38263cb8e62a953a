// Bundles every src/**/*.test.ts(x) for Node and runs them with Node's own test runner.
import { spawnSync } from "node:child_process";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));

async function testsBelow(folder) {
  const entries = await readdir(folder, { withFileTypes: true });
  const found = entries.map((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return testsBelow(path);
    return /\.test\.tsx?$/.test(entry.name) ? [path] : [];
  });
  return (await Promise.all(found)).flat();
}

const tests = await testsBelow(join(here, "src"));
// Inside frontend/, so that packages left outside the bundle are found.
const out = await mkdtemp(join(here, "node_modules", ".tests-"));
try {
  await build({
    absWorkingDir: here,
    entryPoints: tests,
    bundle: true,
    packages: "external",
    platform: "node",
    format: "esm",
    jsx: "automatic",
    outdir: out,
    outbase: join(here, "src"),
    outExtension: { ".js": ".mjs" },
    logLevel: "warning",
  });
  const files = tests.map((path) =>
    join(out, relative(join(here, "src"), path)).replace(/\.tsx?$/, ".mjs"),
  );
  const { status } = spawnSync(process.execPath, ["--test", "--test-reporter=spec", ...files], { stdio: "inherit" });
  process.exitCode = status ?? 1;
} finally {
  await rm(out, { recursive: true, force: true });
}
