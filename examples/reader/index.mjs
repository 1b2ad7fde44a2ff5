// Searches the text files of a folder: `node index.mjs FOLDER WORDS`. Prints the best lines as JSON, with the path of each file below the
// folder. A line counts for each word that it has, and more for rare words; a heading counts for the whole file.
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";

const [folder, query] = process.argv.slice(2);
const words = (text) => text.toLowerCase().match(/[\p{L}\p{N}]{3,}/gu) ?? [];
// "refunded" finds "refunds": what two words share has to be most of both.
const stem = (word) => word.slice(0, Math.max(4, word.length - 3));
const common = new Set(["the", "and", "for", "are", "how", "what", "when", "who", "with", "from", "that", "can", "does", "long"].map(stem));

const lines = readdirSync(folder, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && /\.(md|txt|rst|adoc)$/.test(entry.name))
  .map((entry) => join(entry.parentPath, entry.name))
  .sort()
  .flatMap((path) =>
    readFileSync(path, "utf8").split("\n").map((text, nth) => ({
      path: relative(folder, path),
      line: nth + 1,
      text: text.trim(),
      stems: new Set(words(text).map(stem)),
    })),
  )
  .filter((line) => line.text !== "");

const wanted = [...new Set(words(query).map(stem))].filter((word) => !common.has(word));
const rarity = (word) => Math.log(1 + lines.length / (1 + lines.filter((line) => line.stems.has(word)).length));
const score = (line) => wanted.filter((word) => line.stems.has(word)).reduce((sum, word) => sum + rarity(word), 0);
const hits = lines
  .map((line) => ({ ...line, score: score(line) }))
  .filter((line) => line.score > 0)
  .sort((a, b) => b.score - a.score)
  .slice(0, 5)
  .map(({ path, line, text }) => ({ path, line, text }));
console.log(JSON.stringify(hits));
