import { useState } from 'react'
import { Form, TextArea } from '../../../ui/form.js'
import { Part } from '../../../ui/part.js'
import { note } from '../../../ui/toasts.js'
import { useWebchatActions } from '../queries.js'
import { linesOf } from './settings-draft.js'

interface AllowedSitesProps {
  botId: string
  allowedOrigins: readonly string[]
}

/** The web sites whose pages may use the chat. */
export function AllowedSites({ botId, allowedOrigins }: AllowedSitesProps) {
  const { update } = useWebchatActions(botId)
  const [sites, setSites] = useState(allowedOrigins.join('\n'))
  const given = linesOf(sites)
  return (
    <Part
      title="Allowed web sites"
      hint="Pages of other web sites are refused. The page of the link always works."
    >
      <Form
        submit="Save the web sites"
        onSubmit={async () => {
          const saved = await update({ allowedOrigins: given })
          setSites(saved.allowedOrigins.join('\n'))
          note('The allowed web sites are saved.')
        }}
      >
        {(faultOf) => (
          <TextArea
            label="Web sites"
            spellCheck={false}
            placeholder="https://shop.example.com"
            hint="One in each line, such as https://shop.example.com or https://*.example.com, at most 50; empty allows all."
            error={[
              faultOf('allowedOrigins'),
              ...given.map((_, at) => faultOf(`allowedOrigins.${at}`)),
            ].find((fault) => fault !== undefined)}
            value={sites}
            onChange={({ target }) => setSites(target.value)}
          />
        )}
      </Form>
    </Part>
  )
}
