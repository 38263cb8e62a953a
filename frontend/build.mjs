// Bundles the page into `--out` (default dist/): hashed assets, index.html, a .gz beside each text.
// Plain esbuild: see docs/adr/0005-page-build.md.
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { gzipSync } from "node:zlib";
import { context, build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const { values } = parseArgs({
  options: { out: { type: "string", default: join(here, "dist") }, watch: { type: "boolean" } },
});

const pageOptions = (out) => ({
  absWorkingDir: here,
  entryPoints: { page: "src/main.tsx" },
  bundle: true,
  format: "esm",
  jsx: "automatic",
  target: ["es2022"],
  outdir: join(out, "assets"),
  entryNames: "[name]-[hash]",
  assetNames: "[name]-[hash]",
  define: { "process.env.NODE_ENV": '"production"' },
  minify: true,
  legalComments: "none",
  metafile: true,
  // Its browser build decodes entities with innerHTML, which the policy's Trusted Types forbid.
  alias: {
    "decode-named-character-reference": join(
      here,
      "node_modules/decode-named-character-reference/index.js",
    ),
  },
  loader: { ".svg": "file" },
  logLevel: "warning",
});

// Two small files beside the bundle: the theme must be set before the first paint, and an inline
// script would need a hole in the content security policy.
const bootOptions = (out) => ({
  ...pageOptions(out),
  entryPoints: { theme: "src/shell/theme-boot.ts", icon: "src/icon.svg" },
  format: "iife",
  loader: { ".svg": "copy" },
});

async function writeIndex(out, outputs) {
  const asset = (stem, ext) => {
    const found = Object.keys(outputs).map((path) => basename(path));
    const name = found.find((file) => file.startsWith(`${stem}-`) && file.endsWith(ext));
    if (!name) throw new Error(`The build made no ${stem}*${ext}.`);
    return `/assets/${name}`;
  };
  const template = await readFile(join(here, "index.html"), "utf8");
  const html = template
    .replace("%theme.js%", asset("theme", ".js"))
    .replace("%page.js%", asset("page", ".js"))
    .replace("%page.css%", asset("page", ".css"))
    .replace("%icon.svg%", asset("icon", ".svg"));
  await writeFile(join(out, "index.html"), html);
}

/** The notices of every package whose code is in the bundle: their licences ask for it. */
async function writeLicences(out, inputs) {
  const folders = Object.keys(inputs).flatMap((path) => {
    const match = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path);
    return match ? [match[1]] : [];
  });
  const notices = [];
  for (const folder of [...new Set(folders)].sort()) {
    const files = await readdir(join(here, folder));
    const { name, version, license } = JSON.parse(
      await readFile(join(here, folder, "package.json"), "utf8"),
    );
    const file = files.find((each) => /^licen[cs]e/i.test(each));
    const text = file ? await readFile(join(here, folder, file), "utf8") : `License: ${license}\n`;
    notices.push(`${name} ${version}\n\n${text.trim()}\n`);
  }
  await writeFile(join(out, "licences.txt"), notices.join("\n----\n\n"));
}

async function compress(out, outputs) {
  const texts = Object.keys(outputs).filter((path) => /\.(js|css|svg)$/.test(path));
  const files = [...texts.map((path) => join(here, path)), join(out, "index.html")];
  let bytes = 0;
  for (const file of files) {
    const packed = gzipSync(await readFile(file), { level: 9 });
    await writeFile(`${file}.gz`, packed);
    bytes += packed.length;
  }
  return bytes;
}

async function buildOnce(out) {
  await rm(out, { recursive: true, force: true });
  await mkdir(out, { recursive: true });
  const results = [await build(pageOptions(out)), await build(bootOptions(out))];
  const outputs = Object.assign({}, ...results.map((result) => result.metafile.outputs));
  await writeIndex(out, outputs);
  await writeLicences(out, Object.assign({}, ...results.map((result) => result.metafile.inputs)));
  const bytes = await compress(out, outputs);
  console.log(`page: ${(bytes / 1000).toFixed(1)} kB gzip, in ${out}`);
}

async function watch(out) {
  const rewrite = {
    name: "index",
    setup: ({ onEnd }) => onEnd(() => buildOnce(out).catch((error) => console.error(error.message))),
  };
  const watched = { ...pageOptions(out), write: false, plugins: [rewrite], logLevel: "error" };
  await (await context(watched)).watch();
}

await (values.watch ? watch : buildOnce)(values.out);
