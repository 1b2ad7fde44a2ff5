#!/usr/bin/env node
// Runs the chartc of this platform's package.
"use strict";
const { spawn } = require("node:child_process");
const { constants } = require("node:os");
const { name, version, optionalDependencies } = require("../package.json");

const platform = `${process.platform}-${process.arch}`;
const wanted = `@${name}/${platform}`;
const offered = Object.keys(optionalDependencies);

function fail(error, help) {
  console.error(`error: ${error}\nhelp: ${help}`);
  process.exit(2);
}

let program;
try {
  program = require.resolve(`${wanted}/bin/chartc${process.platform === "win32" ? ".exe" : ""}`);
} catch {
  if (!offered.includes(wanted)) {
    const platforms = offered.map((each) => each.split("/")[1]).join(", ");
    fail(`no package of chartc runs on ${platform}, only on ${platforms}`, "install Rust, then run `cargo install --locked chartc`");
  }
  fail(
    `the package ${wanted} is not installed`,
    `install chartc again with optional dependencies (no \`--omit=optional\`), or run \`npm install ${wanted}@${version}\`. ` +
      "On a Linux without glibc, such as Alpine, install Rust and run `cargo install --locked chartc`"
  );
}

const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
child.on("error", (why) => fail(`${program} does not start: ${why.message}`, "install chartc again"));

// A terminal sends Ctrl-C to both processes. Sent on, it would be the second one, which ends a run at once.
const hasTerminal = [process.stdin, process.stdout, process.stderr].some((stream) => stream.isTTY);
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => {
    if (signal !== "SIGINT" || !hasTerminal) child.kill(signal);
  });
}
child.on("exit", (code, signal) => {
  if (signal === null) process.exit(code);
  // End by the same signal; 128 and its number is for one that node ignores.
  process.exitCode = 128 + constants.signals[signal];
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});
