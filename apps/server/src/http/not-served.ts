/** Tells a caller where the missing operations of existing clients are listed. */
export const whatIsMissing =
  'docs/guides/compatibility.md lists the operations of existing clients that this version does not serve.'

const parts = [
  'v1/tables',
  'v1/admin/(activities|helper|quotas|usages|workspace-members)',
  'v1/admin/account/preferences',
  'v1/admin/bots/[^/]+/(allowlist|analytics|bot-json|issues|publish-from-bot-json|transfer|versions|webchat)',
  'v1/admin/bots/[^/]+/integrations/[^/]+/(sandboxed-conversations|shareable-id)',
  'v1/admin/workspaces/(preferences|usages)',
  'v1/admin/workspaces/[^/]+/(audit-records|billing|migrate-to-v4|public|quota|quotas|usages)',
  'v2/(billing|usage)',
]
const pattern = new RegExp(`^/(${parts.join('|')})(/|$)`)

/** Whether existing clients have operations at a path, or below it, that this server lacks. */
export function isKnownElsewhere(path: string): boolean {
  return pattern.test(path)
}
