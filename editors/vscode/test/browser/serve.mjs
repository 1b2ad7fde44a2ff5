// A web server for the workbench: its files, the extension, the files of a workspace, and a bridge to `chartc lsp`.
import { spawn } from 'node:child_process';
import { createReadStream, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join, normalize, sep } from 'node:path';
import { WebSocketServer } from './tools.mjs';

const kinds = {
  '.html': 'text/html', '.js': 'text/javascript', '.mjs': 'text/javascript', '.css': 'text/css', '.json': 'application/json', '.svg': 'image/svg+xml',
  '.png': 'image/png', '.ttf': 'font/ttf', '.wasm': 'application/wasm', '.txt': 'text/plain', '.md': 'text/plain',
};

/** Serves until it is closed. `page` is the HTML of `/`, given the address. */
export async function serve({ oss, extension, workspace, chartc, page }) {
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url, 'http://localhost');
    response.setHeader('Access-Control-Allow-Origin', '*');
    response.setHeader('Access-Control-Allow-Methods', 'GET, PUT');
    try {
      if (pathname === '/') {
        response.setHeader('Content-Type', 'text/html');
        response.end(page(address()));
      } else if (request.method === 'OPTIONS') {
        response.end();
      } else if (pathname.startsWith('/oss/')) {
        file(response, oss, pathname.slice(5));
      } else if (pathname.startsWith('/extension/')) {
        file(response, extension, pathname.slice(11));
      } else if (pathname.startsWith('/disk/')) {
        disk(request, response, workspace, pathname.slice(6), searchParams.get('path'));
      } else {
        nothing(response);
      }
    } catch {
      nothing(response);
    }
  });
  // Panels are served from names beside this one. Under one domain they may keep service workers, which they need.
  const address = () => `http://workbench.chartc.localhost:${server.address().port}`;
  const bridges = new WebSocketServer({ server, path: '/lsp' });
  const children = new Set();
  const said = [];
  bridges.on('connection', (socket) => bridge(socket, chartc, workspace, children, said));
  await new Promise((resolve) => server.listen(0, 'localhost', resolve));
  return {
    address: address(),
    /** What the servers have said on standard error. */
    said: () => said.join(''),
    close() {
      children.forEach((child) => child.kill());
      bridges.close();
      server.closeAllConnections();
      server.close();
    },
  };
}

function nothing(response) {
  response.statusCode = 404;
  response.end();
}

function below(root, path) {
  const whole = normalize(join(root, path));
  if (whole !== normalize(root) && !whole.startsWith(normalize(root) + sep)) {
    throw new Error('outside');
  }
  return whole;
}

function file(response, root, path) {
  const whole = below(root, decodeURIComponent(path));
  if (!statSync(whole).isFile()) {
    throw new Error('no file');
  }
  response.setHeader('Content-Type', kinds[extname(whole)] ?? 'application/octet-stream');
  createReadStream(whole).pipe(response);
}

/** The workspace under its own path, as the server that reads the disk sees it. */
function disk(request, response, workspace, what, path) {
  const whole = below(workspace, path.startsWith(workspace) ? path.slice(workspace.length) : '../outside');
  const kind = (it) => (it.isDirectory() ? 2 : 1);
  const json = (value) => {
    response.setHeader('Content-Type', 'application/json');
    response.end(JSON.stringify(value));
  };
  if (what === 'stat') {
    const it = statSync(whole);
    json({ type: kind(it), ctime: it.ctimeMs, mtime: it.mtimeMs, size: it.size });
  } else if (what === 'list') {
    json(readdirSync(whole, { withFileTypes: true }).map((it) => [it.name, kind(it)]));
  } else if (what === 'read') {
    response.end(readFileSync(whole));
  } else if (what === 'write' && request.method === 'PUT') {
    const parts = [];
    request.on('data', (part) => parts.push(part)).on('end', () => {
      writeFileSync(whole, Buffer.concat(parts));
      response.end();
    });
  } else {
    nothing(response);
  }
}

/** Frames of the Language Server Protocol on one side, messages on the other. */
function bridge(socket, chartc, workspace, children, said) {
  const child = spawn(chartc[0], chartc.slice(1), { cwd: workspace, stdio: ['pipe', 'pipe', 'pipe'] });
  children.add(child);
  let read = Buffer.alloc(0);
  child.stdout.on('data', (part) => {
    read = Buffer.concat([read, part]);
    for (;;) {
      const end = read.indexOf('\r\n\r\n');
      const length = end < 0 ? undefined : Number(/Content-Length: (\d+)/i.exec(read.subarray(0, end))?.[1]);
      if (length === undefined || read.length < end + 4 + length) {
        return;
      }
      socket.send(read.subarray(end + 4, end + 4 + length).toString());
      read = read.subarray(end + 4 + length);
    }
  });
  child.stderr.on('data', (part) => said.push(part.toString()));
  child.on('error', (error) => said.push(String(error)));
  child.on('exit', (code) => {
    children.delete(child);
    said.push(code === 0 || code === null ? '' : `chartc has ended with ${code}\n`);
    socket.close();
  });
  socket.on('message', (message) => child.stdin.write(`Content-Length: ${message.length}\r\n\r\n${message}`));
  socket.on('close', () => child.kill());
}
