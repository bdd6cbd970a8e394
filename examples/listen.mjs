import { once } from 'node:events'

/**
 * Serves a bot or an integration; answers where the server reaches it. On other machines than the
 * server's, BOT_URL has to say that.
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
