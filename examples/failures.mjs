import { isApiError } from '@botpress/client'

/**
 * A handler that logs why it failed, with the stack. The SDK does so itself, but of a call that the
 * server refused it logs the message alone. What becomes of the failure stays with the SDK.
 */
export function logged(handler) {
  return async (...given) => {
    try {
      return await handler(...given)
    } catch (error) {
      // Not the error itself: Node would print what was sent with it, and the token in that.
      if (isApiError(error)) console.error(error.stack)
      throw error
    }
  }
}

/**
 * Has a bot log why its handlers fail: those that are given to it from now on.
 * @param bot made with the bot SDK
 */
export function logFailures(bot) {
  for (const [name, register] of Object.entries(bot.on)) {
    bot.on[name] = (type, handler) => register(type, logged(handler))
  }
  return bot
}
