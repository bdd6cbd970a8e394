/** A request at the public address of an installation. */
export interface WebhookRequest {
  webhookId: string
  method: string
  /** What follows the webhook id, with a slash before it. */
  path: string
  /** As it came, without the question mark. */
  query: string
  headers: Record<string, string>
  body: string | undefined
  /** Returned to the caller in place of a reason, which the log records with it. */
  requestId: string
}

/** The response of the integration. */
export interface WebhookAnswer {
  status: number
  headers: Record<string, string | string[]>
  body: Buffer
}
