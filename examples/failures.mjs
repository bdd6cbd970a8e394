import { isApiError } from '@botpress/client'

/**
 * A handler that logs its failures with the stack. The SDK does so itself, except for a call that the
 * server refused, of which it logs the message alone. The SDK still handles the failure.
 */
export function logged(handler) {
  return async (...given) => {
    try {
      return await handler(...given)
    } catch (error) {
      // Not the error object: Node would print the request with its token.
      if (isApiError(error)) console.error(error.stack)
      throw error
    }
  }
}

/**
 * Makes a bot log why its handlers fail, for handlers that are added from now on.
 * @param bot made with the bot SDK
 */
export function logFailures(bot) {
  for (const [name, register] of Object.entries(bot.on)) {
    bot.on[name] = (type, handler) => register(type, logged(handler))
  }
  return bot
}
