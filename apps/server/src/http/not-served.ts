/** Where a caller reads what existing clients know and this version does not have. */
export const whatIsMissing =
  'What existing clients know and this version does not serve is listed in docs/guides/compatibility.md.'

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

/** Whether existing clients know operations at a path, or below it, that no route here answers. */
export function isKnownElsewhere(path: string): boolean {
  return pattern.test(path)
}
