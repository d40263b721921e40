import { Button, CopyButton, Dialog } from '../../ui/index.ts'

export interface Made {
  readonly name: string
  readonly secret: string
}

/** Shows a secret once. */
export const SecretDialog = ({ made, onClose }: { made: Made | undefined; onClose: () => void }) => (
  <Dialog keep open={made !== undefined} onClose={onClose} title={`The secret of ${made?.name ?? ''}`}>
    <p>Copy it now: it is not shown again.</p>
    <div className="command">
      <code>{made?.secret}</code>
      <CopyButton text={made?.secret ?? ''} label="the secret" />
    </div>
    <p className="muted">
      Requests have the header X-Scanfarm-Timestamp and, in X-Scanfarm-Signature, sha256= and the HMAC-SHA256
      of TIMESTAMP.BODY with this secret.
    </p>
    <div className="dialog-actions line">
      <Button kind="primary" onClick={onClose}>
        I have copied it
      </Button>
    </div>
  </Dialog>
)
