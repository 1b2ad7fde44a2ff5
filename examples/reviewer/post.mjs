// Appends a comment to a file: `node post.mjs FILE`, with the tool's arguments as JSON on standard input.
import { appendFileSync } from "node:fs";
import { text } from "node:stream/consumers";

const [file] = process.argv.slice(2);
const { text: comment } = JSON.parse(await text(process.stdin));
appendFileSync(file, comment + "\n");
console.log(`posted to ${file}`);
