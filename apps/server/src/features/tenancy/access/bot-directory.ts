/** What access reads about bots, which are a slice above this one. */
export interface BotDirectory {
  /** The workspace of a bot; undefined if there is no such bot. */
  workspaceOf(botId: string): Promise<string | undefined>
  /** The integrations that are installed in a bot. */
  installationsOf(
    botId: string,
  ): Promise<readonly { integration_id: string; alias: string; name: string }[]>
}
