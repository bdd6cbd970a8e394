import { once } from 'node:events'

/**
 * Serves a bot or an integration; returns its address for the server. If it runs on another machine than
 * the server, BOT_URL must name it.
 * @param program made with the bot SDK
 * @param port unless BOT_PORT is set; 0 takes a free one
 */
export async function listen(program, port) {
  const listener = await program.start(Number(process.env.BOT_PORT ?? port))
  try {
    await once(listener, 'listening')
  } catch (error) {
    if (error.code !== 'EADDRINUSE') throw error
    throw new Error(`Port ${error.port} is in use: BOT_PORT=0 takes a free one.`)
  }
  return process.env.BOT_URL ?? `http://127.0.0.1:${listener.address().port}`
}
