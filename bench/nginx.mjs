// The nginx of the system as a reference for files: PUT by its dav module, GET by sendfile.
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { freePort, untilReady } from './processes.mjs'
import { startProgram, stopped, tryProgram } from './programs.mjs'

/** Whether nginx is installed with the module for uploads. */
export function hasNginx() {
  return tryProgram('nginx', ['-V'])?.includes('http_dav_module') === true
}

/** Starts nginx on a folder of its own; nothing of the system is read or written. */
export async function startNginx(folder) {
  const port = await freePort()
  for (const name of ['data', 'tmp']) await mkdir(join(folder, name), { recursive: true })
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${join(folder, 'tmp')};`)
    .join('\n')
  const config = join(folder, 'nginx.conf')
  await writeFile(
    config,
    `daemon off;
master_process off;
pid ${join(folder, 'nginx.pid')};
error_log ${join(folder, 'error.log')};
events {}
http {
  access_log off;
  sendfile on;
  ${temporary}
  server {
    listen 127.0.0.1:${port};
    root ${join(folder, 'data')};
    client_max_body_size 0;
    dav_methods PUT;
    create_full_put_path on;
  }
}
`,
  )
  const child = startProgram('nginx', ['-p', folder, '-c', config])
  const address = `http://127.0.0.1:${port}`
  await writeFile(join(folder, 'data', 'ready'), '')
  await untilReady(`${address}/ready`)
  return {
    address,
    pid: child.pid,
    stop: () => stopped(child, () => child.kill('SIGTERM')),
  }
}
