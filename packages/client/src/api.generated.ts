// Generated from the OpenAPI document by `npm run generated`.

export type Accepted = { "success": true; "message": "Successfully Accepted"; "messageId": string; "suppressedRecipients": (string)[] };
export type AcceptedMessage = { "status": 200; "success": true; "message": "Successfully Accepted"; "messageId": string; "suppressedRecipients": (string)[] };
export type Account = { "id": string; "name": string; "addOns": (string)[]; "suspended": boolean; "retentionDays": number; "quota": { "perHour": (number | null); "perDay": (number | null) }; "archiveAddress": string; "attachmentLimit": (number | null) };
export type Allowance = { "clientId": string; "accountId": string; "perHour": number };
export type AllowanceUse = { "email": string; "used": number; "left": number; "freeAt": (string | null) };
export type ApiKey = { "id": string; "name": string; "hint": (string | null); "scopes": (("account:read" | "account:write" | "audit:read" | "contacts:read" | "contacts:write" | "domains:read" | "domains:write" | "inbox:read" | "inbox:write" | "integrations:read" | "integrations:write" | "keys:read" | "keys:write" | "lists:read" | "lists:write" | "messages:read" | "messages:control" | "messages:send" | "messages:status" | "privacy:read" | "privacy:write" | "queue:read" | "queue:control" | "reports:read" | "senders:read" | "senders:write" | "suppressions:read" | "suppressions:write" | "templates:read" | "templates:write" | "templates:publish" | "users:read" | "users:write" | "webhooks:read" | "webhooks:write"))[]; "networks": ((string)[] | null); "templates": ((string)[] | null); "createdBy": (string | null); "createdAt": string; "expiresAt": (string | null); "lastUsedAt": (string | null) };
export type Attachment = { "filename": string; "contentType": string; "content": string; "contentId"?: string };
export type Attention = { "kind": string; "severity": ("error" | "warning" | "info"); "subject": (string | null); "sentence": string; "nextStep": string };
export type AttentionList = { "items": (Attention)[] };
export type AuditEvent = { "id": string; "at": string; "kind": string; "outcome": string; "email": (string | null); "clientId": (string | null); "remoteAddress": (string | null); "requestId": (string | null); "detail": Record<string, unknown> };
export type BatchMessage = { "envelope": { "toAddress": string; "toDisplayName"?: string; "ccAddressList"?: (string)[]; "bccAddressList"?: (string)[]; "fromAddress"?: string; "fromDisplayName"?: string; "replyToAddress"?: string }; "content"?: { "subjectLine"?: string; "personalizationDataMap"?: Record<string, (string | ValueObject2 | (ValueObject2)[])>; "previewText"?: string; "locale"?: string; "headers"?: Record<string, string> }; "metadata"?: { "transactional"?: boolean; "externalId"?: string; "tagList"?: (string)[]; "attributes"?: Record<string, string> }; "actions": { "trackOpens": boolean; "trackClicks": boolean; "deliveryWhenDelayed"?: string; "sendAt"?: string; "deliverBefore"?: string; "templateVersion"?: string }; "idempotencyKey"?: string };
export type BatchResults = { "results": ((AcceptedMessage | Fault))[] };
export type ClientSecret = { "clientId": string; "clientSecret": string };
export type Consent = { "email": string; "accountId": string; "grantedAt": string };
export type Contact = { "email": string; "fields": Record<string, string>; "createdAt": string };
export type ContactList = { "id": string; "name": string; "folderName": string; "description": string; "size": number; "createdAt": string; "modifiedAt": string };
export type ControlResult = { "changed": number; "busy": number };
export type Destination = { "destination": string; "waiting": number; "held": number; "nextAttemptAt": (string | null); "reason": (string | null) };
export type Domain = { "domain": string; "state": ("pending" | "verified" | "broken"); "stateAt": string; "returnPath": string; "trackingHost": (string | null); "sourcePool": string; "warmUp": (WarmUp | null); "checkedAt": (string | null) };
export type DomainDetail = { "domain": string; "state": ("pending" | "verified" | "broken"); "stateAt": string; "returnPath": string; "trackingHost": (string | null); "sourcePool": string; "warmUp": (WarmUp | null); "checkedAt": (string | null); "keys": (DomainKey)[]; "records": (DomainRecord)[] };
export type DomainKey = { "selector": string; "algorithm": string; "state": ("pending" | "active" | "retired"); "stateAt": string };
export type DomainRecord = { "kind": string; "name": string; "type": string; "expected": string; "required": boolean; "why": string; "state": string; "found": (string)[]; "explanation": (string | null); "resolver": (string | null); "checkedAt": (string | null) };
export type DomainSettings = { "trackingHost": (string | null); "sourcePool": string; "warmUp": (WarmUp | null) };
export type Erased = { "messages": number; "contacts": number; "suppressions": number };
export type Event = { "cursor": string; "type": string; "timestamp": string; "data": EventData };
export type EventData = { "eventId": string; "messageId": string; "externalId": (string | null); "templateId": (string | null); "tag": (string | null); "attributes": Record<string, string>; "recipient": (number | null); "address": (string | null); "detail": Record<string, unknown> };
export type Events = { "items": (Event)[]; "cursor": string; "more": boolean };
export type Explanation = { "sentence": string; "nextStep": string };
export type Fault = { "success": false; "status": number; "errorName": ("SENDER_NOT_ALLOWED" | "INVALID_ID" | "VALIDATION_FAILED" | "PERSONALIZATION_FAILURE" | "RECIPIENT_SUPPRESSED" | "ACCOUNT_SUSPENDED" | "UNAUTHORIZED" | "IDEMPOTENCY_IN_PROGRESS" | "IDEMPOTENCY_MISMATCH" | "QUOTA_EXCEEDED" | "IO_EXCEPTION" | "INTERNAL_ERROR"); "message": string; "details": ({ "field": string; "reason": string })[]; "suppressedRecipients"?: (string)[]; "requestId": string };
export type FileImport = { "state": ("running" | "done" | "failed"); "bytesTotal": number; "bytesRead": number; "rowsRead": number; "rowsWritten": number; "rowsWrong": number; "problems": ({ "line": number; "reason": string })[]; "createdAt": string; "changedAt": string };
export type InboxMessage = { "id": string; "receivedAt": string; "envelopeFrom": string; "envelopeTo": (string)[]; "subject": string; "headers": ({ "name": string; "value": string })[]; "html": (string | null); "text": (string | null); "source": string };
export type InboxSummary = { "id": string; "receivedAt": string; "envelopeFrom": string; "envelopeTo": (string)[]; "from": (string | null); "subject": string; "beginning": string };
export type Integration = { "clientId": string; "name": string; "redirectUri": string; "grants": (string)[]; "requirePkce": boolean; "disabled": boolean; "previousSecretUntil": (string | null); "allowance": number };
export type ItemFieldSettings0 = { "kind"?: ("text" | "list" | "object"); "default"?: string; "sample"?: string; "description"?: string };
export type ItemFieldSettings1 = { "kind"?: ("text" | "list" | "object"); "default"?: (string | SampleObject0 | (SampleObject0)[]); "sample"?: (string | SampleObject0 | (SampleObject0)[]); "description"?: string; "fields"?: Record<string, ItemFieldSettings0> };
export type ItemFieldSettings2 = { "kind"?: ("text" | "list" | "object"); "default"?: (string | SampleObject1 | (SampleObject1)[]); "sample"?: (string | SampleObject1 | (SampleObject1)[]); "description"?: string; "fields"?: Record<string, ItemFieldSettings1> };
export type Latency = { "p50": number; "p95": number; "p99": number };
export type LearntSession = { "messagesPerConnection": number; "learntAt": string; "reason": string };
export type ListedFileImport = { "id": string; "state": ("running" | "done" | "failed"); "bytesTotal": number; "bytesRead": number; "rowsRead": number; "rowsWritten": number; "rowsWrong": number; "problems": ({ "line": number; "reason": string })[]; "createdAt": string; "changedAt": string };
export type Listing = { "count": number; "offset": number; "totalCount": number; "result": ({ "id": string; "name": string; "folderName": string; "description": string; "sourceSize": number; "tsCreated": number; "tsLastModified": number })[] };
export type ListingError = { "errorCode": (string | null); "message": string };
export type MailTemplate = { "kind": ("password-link" | "invitation" | "sender-confirmation" | "security-notice"); "replaced": boolean; "subject": string; "previewText"?: string; "html"?: string; "mjml"?: string; "text"?: string; "fields": ({ "name": string; "description"?: string; "secret": boolean })[] };
export type Me = { "person": ({ "id": string; "email": string; "name": string } | null); "operator": boolean; "accounts": (MyAccount)[] };
export type Message = { "messageId": string; "templateId": string; "templateVersion": number; "state": ("queued" | "sending" | "deferred" | "delivered" | "bounced" | "expired" | "failed" | "uncertain" | "suppressed" | "canceled"); "stateAt": string; "acceptedAt": string; "transactional": boolean; "externalId": (string | null); "tag": (string | null); "locale": (string | null); "attributes": Record<string, string>; "trackOpens": boolean; "trackClicks": boolean; "deliveryWhenDelayed": ("TRUE" | "FALSE"); "recipients": ({ "address": (string | null); "role": ("to" | "cc" | "bcc"); "state": ("queued" | "sending" | "deferred" | "delivered" | "bounced" | "expired" | "failed" | "uncertain" | "suppressed" | "canceled"); "at": string; "explanation": Explanation })[]; "suppressedRecipients": (string)[]; "nextAttempt": ({ "at": (string | null); "reason": string } | null); "events": ({ "at": string; "kind": ("delivered" | "bounced" | "deferred" | "expired" | "failed" | "uncertain" | "suppressed" | "canceled" | "delayed" | "complained" | "unsubscribed" | "opened" | "clicked" | "redirected" | "warning" | "pause-asked" | "resume-asked" | "cancel-asked" | "retry-asked" | "move-asked" | "version-kept"); "recipient": (number | null); "detail": unknown })[]; "content": (Record<string, unknown> | null) };
export type MessageLine = { "id": string; "acceptedAt": string; "state": ("queued" | "sending" | "deferred" | "delivered" | "bounced" | "expired" | "failed" | "uncertain" | "suppressed" | "canceled"); "stateAt": string; "templateId": string; "templateVersion": number; "to": (string | null); "from": (string | null); "tag": (string | null); "externalId": (string | null); "transactional": boolean; "nextAttemptAt": (string | null); "reason": (string | null) };
export type MessageStatus = { "success": true; "messageId": string; "templateId": string; "templateVersion": number; "state": ("queued" | "sending" | "deferred" | "delivered" | "bounced" | "expired" | "failed" | "uncertain" | "suppressed" | "canceled"); "stateAt": string; "acceptedAt": string; "transactional": boolean; "externalId": (string | null); "tag": (string | null); "locale": (string | null); "attributes": Record<string, string>; "trackOpens": boolean; "trackClicks": boolean; "deliveryWhenDelayed": ("TRUE" | "FALSE"); "recipients": ({ "address": (string | null); "role": ("to" | "cc" | "bcc"); "state": ("queued" | "sending" | "deferred" | "delivered" | "bounced" | "expired" | "failed" | "uncertain" | "suppressed" | "canceled"); "at": string })[]; "suppressedRecipients": (string)[]; "nextAttempt": ({ "at": (string | null); "reason": string } | null); "events": ({ "at": string; "kind": ("delivered" | "bounced" | "deferred" | "expired" | "failed" | "uncertain" | "suppressed" | "canceled" | "delayed" | "complained" | "unsubscribed" | "opened" | "clicked" | "redirected" | "warning" | "pause-asked" | "resume-asked" | "cancel-asked" | "retry-asked" | "move-asked" | "version-kept"); "recipient": (number | null); "detail": unknown })[] };
export type MyAccount = { "id": string; "name": string; "addOns": (string)[]; "suspended": boolean; "retentionDays": number; "quota": { "perHour": (number | null); "perDay": (number | null) }; "archiveAddress": string; "attachmentLimit": (number | null); "role": (string | null); "permissions": (("account:read" | "account:write" | "audit:read" | "contacts:read" | "contacts:write" | "domains:read" | "domains:write" | "inbox:read" | "inbox:write" | "integrations:read" | "integrations:write" | "keys:read" | "keys:write" | "lists:read" | "lists:write" | "messages:read" | "messages:control" | "messages:send" | "messages:status" | "privacy:read" | "privacy:write" | "queue:read" | "queue:control" | "reports:read" | "senders:read" | "senders:write" | "suppressions:read" | "suppressions:write" | "templates:read" | "templates:write" | "templates:publish" | "users:read" | "users:write" | "webhooks:read" | "webhooks:write"))[] };
export type NewApiKey = { "id": string; "key": string };
export type OAuthError = { "error": string; "error_description"?: string };
export type Operator = { "email": string; "name": string };
export type Pause = { "destination": string; "pausedAt": string };
export type Person = { "id": string; "email": string; "name": string; "operator": boolean; "disabled": boolean; "accounts": ({ "accountId": string; "role": ("owner" | "developer" | "marketer" | "viewer" | "service") })[] };
export type Problem = { "type": ("/problems/malformed-request" | "/problems/unauthenticated" | "/problems/forbidden" | "/problems/link-expired" | "/problems/foreign-request" | "/problems/not-found" | "/problems/method-not-allowed" | "/problems/too-slow" | "/problems/conflict" | "/problems/breaks-callers" | "/problems/events-expired" | "/problems/precondition-failed" | "/problems/too-large" | "/problems/unsupported-media-type" | "/problems/validation-failed" | "/problems/too-many-requests" | "/problems/internal-error" | "/problems/busy" | "/problems/unavailable"); "title": string; "status": number; "detail": string; "errors"?: ({ "field": string; "reason": string })[]; "requestId": string };
export type Published = { "version": number; "notes": (string)[] };
export type Queue = { "destinations": (Destination)[]; "partial": boolean; "paused": (string)[] };
export type QueueControlResult = { "changed": number; "busy": number };
export type QuotaUse = { "hour": QuotaWindow; "day": QuotaWindow };
export type QuotaWindow = { "limit": (number | null); "used": number; "endsAt": string };
export type Receiver = { "name": string; "label": string; "rate": number; "connections": number; "sending": number; "fixedRate": (number | null); "fixedConnections": (number | null); "messagesPerConnection": number; "fixedMessagesPerConnection": (number | null); "session": (LearntSession | null); "slowedAt": (string | null); "slowedReason": (string | null) };
export type ReceiverSettings = { "rate": (number | null); "connections": (number | null); "messagesPerConnection": (number | null) };
export type RenderedMessage = { "subject": string; "html": (string | null); "text": (string | null); "images": (TemplateImage)[] };
export type Report = { "rows": (ReportRow)[] };
export type ReportCounts = { "accepted": number; "delivered": number; "bounced_hard": number; "bounced_soft": number; "deferred": number; "expired": number; "failed": number; "uncertain": number; "canceled": number; "complained": number; "unsubscribed": number; "opened_people": number; "opened_people_unique": number; "opened_machines": number; "opened_machines_unique": number; "clicked_people": number; "clicked_people_unique": number; "clicked_machines": number; "clicked_machines_unique": number };
export type ReportRow = { "key": string; "counts": ReportCounts; "latency": (Latency | null) };
export type RetentionRule = { "contentDays": (number | null); "addressDays": (number | null); "engagementDays": (number | null) };
export type SampleObject0 = Record<string, string>;
export type SampleObject1 = Record<string, (string | SampleObject0 | (SampleObject0)[])>;
export type SampleObject2 = Record<string, (string | SampleObject1 | (SampleObject1)[])>;
export type ScheduleChange = { "changed": number; "skipped": number };
export type ScheduledMessage = { "messageId": string; "sendAt": string; "acceptedAt": string; "deliverBefore": (string | null); "paused": boolean; "templateId": string; "templateVersion": number; "to": (string | null); "tag": (string | null); "externalId": (string | null) };
export type SendBatch = { "messages": (BatchMessage)[] };
export type SendRequest = { "envelope": { "toAddress": string; "toDisplayName"?: string; "ccAddressList"?: (string)[]; "bccAddressList"?: (string)[]; "fromAddress"?: string; "fromDisplayName"?: string; "replyToAddress"?: string }; "content"?: { "subjectLine"?: string; "personalizationDataMap"?: Record<string, (string | ValueObject2 | (ValueObject2)[])>; "previewText"?: string; "locale"?: string; "headers"?: Record<string, string>; "attachments"?: (Attachment)[] }; "metadata"?: { "transactional"?: boolean; "externalId"?: string; "tagList"?: (string)[]; "attributes"?: Record<string, string> }; "actions": { "trackOpens": boolean; "trackClicks": boolean; "deliveryWhenDelayed"?: string; "sendAt"?: string; "deliverBefore"?: string; "templateVersion"?: string } };
export type Sender = { "address": string; "displayNames": (string)[]; "verified": boolean };
export type Sent = { "messageId": string };
export type SetUp = { "open": boolean };
export type SetUpDone = { "accountId": string };
export type Settings = { "version": string; "publicUrl": string; "delivery": string; "deliveryRedirect": (string | null); "deliveryAllow": (string)[]; "hostname": (string | null); "sourcePools": (string)[] };
export type SuppressedAddress = { "items": (Suppression)[] };
export type Suppression = { "address": string; "reason": ("hard_bounce" | "complaint" | "unsubscribe" | "manual"); "messageId": (string | null); "createdAt": string; "expiresAt": (string | null) };
export type Template = { "id": string; "name": string; "createdBy": string; "publishedVersion": (number | null); "latestVersion": number; "hasDraft": boolean; "subject": (string | null); "whenUncertain": ("resend" | "hold"); "changedAt": string };
export type TemplateContent = { "subject": string; "previewText"?: string; "html"?: string; "mjml"?: string; "text"?: string; "locale"?: string; "variants"?: Record<string, TemplateVariant>; "fields"?: Record<string, { "kind"?: ("text" | "list" | "object"); "default"?: (string | SampleObject2 | (SampleObject2)[]); "sample"?: (string | SampleObject2 | (SampleObject2)[]); "description"?: string; "fields"?: Record<string, ItemFieldSettings2>; "secret"?: boolean }>; "images"?: (TemplateImage)[]; "sender"?: string; "freshnessMinutes"?: number };
export type TemplateDraft = { "content": TemplateContent; "changedAt": string };
export type TemplateDraftContent = { "subject": string; "previewText"?: string; "html"?: string; "mjml"?: string; "text"?: string; "locale"?: string; "variants"?: Record<string, TemplateVariant>; "fields"?: Record<string, { "kind"?: ("text" | "list" | "object"); "default"?: (string | SampleObject2 | (SampleObject2)[]); "sample"?: (string | SampleObject2 | (SampleObject2)[]); "description"?: string; "fields"?: Record<string, ItemFieldSettings2>; "secret"?: boolean }>; "images"?: (TemplateDraftImage)[]; "sender"?: string; "freshnessMinutes"?: number };
export type TemplateDraftImage = { "contentId": string; "filename"?: string; "contentType"?: string; "content"?: string; "sha256"?: string; "size"?: number };
export type TemplateField = { "name": string; "kind": ("text" | "list" | "object"); "parts": (string)[]; "default": ((string | Record<string, unknown> | (Record<string, unknown>)[]) | null); "sample": ((string | Record<string, unknown> | (Record<string, unknown>)[]) | null); "description": (string | null); "required": boolean; "secret": boolean; "example": (string | Record<string, unknown> | (Record<string, unknown>)[]); "fields"?: (TemplateItemField)[] };
export type TemplateHint = { "kind": ("size" | "spam" | "accessibility" | "content"); "rule": string; "message": string };
export type TemplateImage = { "contentId": string; "filename": string; "contentType": string; "size": number; "sha256": string };
export type TemplateItemField = { "name": string; "kind": ("text" | "list" | "object"); "parts": (string)[]; "default": ((string | Record<string, unknown> | (Record<string, unknown>)[]) | null); "sample": ((string | Record<string, unknown> | (Record<string, unknown>)[]) | null); "description": (string | null); "required": boolean; "fields"?: (Record<string, unknown>)[] };
export type TemplatePreview = { "problems": (TemplateProblem)[]; "fields": (TemplateField)[]; "variant": (string | null); "rendered": ({ "subject": string; "previewText": string; "html": (string | null); "text": (string | null); "htmlBytes": number; "textBytes": number } | null); "hints": (TemplateHint)[] };
export type TemplateProblem = { "severity": ("error" | "warning"); "part": string; "variant"?: string; "rule": string; "message": string; "line"?: number; "column"?: number };
export type TemplateVariant = { "subject": string; "previewText"?: string; "html"?: string; "mjml"?: string; "text"?: string };
export type TemplateVersion = { "version": number; "published": boolean; "createdAt": string; "subject": string; "locales": (string)[] };
export type TemplateVersionDetail = { "version": number; "published": boolean; "createdAt": string; "subject": string; "locales": (string)[]; "content": TemplateContent; "fields": (TemplateField)[] };
export type TestSent = { "messageId": string };
export type TlsDay = { "day": string; "domain": string; "policyType": ("sts" | "no-policy-found"); "success": number; "failed": number; "failures": (TlsFailure)[] };
export type TlsFailure = { "type": string; "host": string; "sessions": number };
export type TlsReport = { "organization-name": string; "date-range": { "start-datetime": string; "end-datetime": string }; "contact-info": string; "report-id": string; "policies": ({ "policy": { "policy-type": string; "policy-string"?: (string)[]; "policy-domain": string; "mx-host"?: (string)[] }; "summary": { "total-successful-session-count": number; "total-failure-session-count": number }; "failure-details": ({ "result-type": string; "receiving-mx-hostname"?: string; "failed-session-count": number })[] })[] };
export type TokenForm = { "grant_type": ("password" | "authorization_code" | "refresh_token"); "client_id": string; "client_secret": string; "username"?: string; "password"?: string; "code"?: string; "redirect_uri"?: string; "code_verifier"?: string; "refresh_token"?: string };
export type TokenResponse = { "token_type": "bearer"; "expires_in": 3600; "access_token": string; "refresh_token": string };
export type User = { "email": string; "name": string; "role": ("owner" | "developer" | "marketer" | "viewer" | "service"); "disabled": boolean; "hasPassword": boolean; "hasSecondFactor": boolean; "since": string; "invitation": ({ "invitedBy": string; "expiresAt": string } | null) };
export type ValueObject0 = Record<string, string>;
export type ValueObject1 = Record<string, (string | ValueObject0 | (ValueObject0)[])>;
export type ValueObject2 = Record<string, (string | ValueObject1 | (ValueObject1)[])>;
export type WarmUp = { "from": string; "plan": (number)[] };
export type Webhook = { "id": string; "url": string; "kinds": (("accepted" | "delivered" | "bounced" | "deferred" | "expired" | "failed" | "uncertain" | "canceled" | "delayed" | "complained" | "unsubscribed" | "opened" | "clicked"))[]; "failingSince": (string | null); "pausedAt": (string | null); "pausedReason": (string | null); "previousUntil": (string | null); "createdAt": string };
export type WebhookDelivery = { "eventId": string; "messageId": string; "kind": ("accepted" | "delivered" | "bounced" | "deferred" | "expired" | "failed" | "uncertain" | "canceled" | "delayed" | "complained" | "unsubscribed" | "opened" | "clicked"); "at": string; "state": ("pending" | "delivered" | "failed"); "attempts": number; "lastAt": (string | null); "lastStatus": (number | null); "lastRequest": (string | null); "lastAnswer": (string | null) };
export type WebhookReplay = { "events": number };
export type WebhookSecret = { "id": string; "secret": string };

export interface paths {
  "/token": {
    post: { parameters: {  }; requestBody: { content: { "application/x-www-form-urlencoded": TokenForm } }; responses: { 200: { content: { "application/json": TokenResponse } }; 400: { content: { "application/json": OAuthError } }; 401: { content: { "application/json": OAuthError } }; 429: { content: { "application/json": OAuthError } } } };
  };
  "/authorize": {
    get: { parameters: { query: { "scope": string; "response_type": string; "client_id": string; "state"?: string; "redirect_uri"?: string; "code_challenge"?: string; "code_challenge_method"?: string } }; responses: { 200: { content?: never }; 303: { content?: never }; 400: { content?: never } } };
  };
  "/ete/v1/email/{account_id}/{template_id}": {
    post: { parameters: { path: { "account_id": string; "template_id": string } }; requestBody: { content: { "application/json": SendRequest } }; responses: { 200: { content: { "application/json": Accepted } }; 400: { content: { "application/json": Fault } }; 401: { content: { "application/json": Fault } }; 409: { content: { "application/json": Fault } }; 422: { content: { "application/json": Fault } }; 429: { content: { "application/json": Fault } }; 500: { content: { "application/json": Fault } }; 503: { content: { "application/json": Fault } } } };
  };
  "/ete/v1/email/{account_id}/{template_id}/batch": {
    post: { parameters: { path: { "account_id": string; "template_id": string } }; requestBody: { content: { "application/json": SendBatch } }; responses: { 200: { content: { "application/json": BatchResults } }; 400: { content: { "application/json": Fault } }; 401: { content: { "application/json": Fault } }; 500: { content: { "application/json": Fault } }; 503: { content: { "application/json": Fault } } } };
  };
  "/ete/v1/message/{account_id}/{message_id}": {
    get: { parameters: { path: { "account_id": string; "message_id": string } }; responses: { 200: { content: { "application/json": MessageStatus } }; 400: { content: { "application/json": Fault } }; 401: { content: { "application/json": Fault } }; 503: { content: { "application/json": Fault } } } };
  };
  "/api/1/list": {
    get: { parameters: { query?: { "count"?: number; "offset"?: number; "listingtype"?: string } }; responses: { 200: { content: { "application/json": Listing } }; 400: { content: { "application/json": ListingError } }; 401: { content: { "application/json": Fault } }; 503: { content: { "application/json": Fault } } } };
  };
  "/manage/v1/set-up": {
    get: { parameters: {  }; responses: { 200: { content: { "application/json": SetUp } }; 404: { content?: never }; 503: { content?: never } } };
    post: { parameters: {  }; requestBody: { content: { "application/json": { "code": string; "email": string; "name": string; "password": string; "accountId": string; "accountName": string } } }; responses: { 201: { content: { "application/json": SetUpDone } }; 400: { content?: never }; 403: { content?: never }; 404: { content?: never }; 408: { content?: never }; 409: { content?: never }; 413: { content?: never }; 415: { content?: never }; 422: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
  };
  "/manage/v1/me": {
    get: { parameters: {  }; responses: { 200: { content: { "application/json": Me } }; 401: { content?: never }; 403: { content?: never }; 503: { content?: never } } };
  };
  "/manage/v1/installation/settings": {
    get: { parameters: {  }; responses: { 200: { content: { "application/json": Settings } }; 401: { content?: never }; 403: { content?: never }; 503: { content?: never } } };
  };
  "/manage/v1/installation/accounts": {
    get: { parameters: { query?: { "cursor"?: string; "limit"?: number } }; responses: { 200: { content: { "application/json": { "items": (Account)[]; "nextCursor": (string | null) } } }; 401: { content?: never }; 403: { content?: never }; 422: { content?: never }; 503: { content?: never } } };
  };
  "/manage/v1/installation/accounts/{accountId}": {
    get: { parameters: { path: { "accountId": string } }; responses: { 200: { content: { "application/json": Account } }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
    put: { parameters: { path: { "accountId": string } }; requestBody: { content: { "application/json": { "name": string; "addOns"?: (("transactional"))[]; "suspended"?: boolean; "retentionDays"?: (30 | 90 | 400); "quota"?: { "perHour"?: number; "perDay"?: number }; "archiveAddress"?: string; "attachmentLimit"?: (number | null) } } }; responses: { 200: { content: { "application/json": Account } }; 201: { content: { "application/json": Account } }; 400: { content?: never }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 408: { content?: never }; 409: { content?: never }; 412: { content?: never }; 413: { content?: never }; 415: { content?: never }; 422: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
  };
  "/manage/v1/installation/people": {
    get: { parameters: { query?: { "contains"?: string; "operator"?: boolean; "cursor"?: string; "limit"?: number } }; responses: { 200: { content: { "application/json": { "items": (Person)[]; "nextCursor": (string | null) } } }; 401: { content?: never }; 403: { content?: never }; 422: { content?: never }; 503: { content?: never } } };
  };
  "/manage/v1/installation/people/{email}": {
    get: { parameters: { path: { "email": string } }; responses: { 200: { content: { "application/json": Person } }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 503: { content?: never } } };
    put: { parameters: { path: { "email": string }; query?: { "keysTo"?: string } }; requestBody: { content: { "application/json": { "disabled": boolean } } }; responses: { 200: { content: { "application/json": Person } }; 201: { content: { "application/json": Person } }; 400: { content?: never }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 408: { content?: never }; 409: { content?: never }; 412: { content?: never }; 413: { content?: never }; 415: { content?: never }; 422: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
  };
  "/manage/v1/installation/operators/{email}": {
    get: { parameters: { path: { "email": string } }; responses: { 200: { content: { "application/json": Operator } }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 503: { content?: never } } };
    put: { parameters: { path: { "email": string } }; responses: { 200: { content: { "application/json": Operator } }; 201: { content: { "application/json": Operator } }; 400: { content?: never }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 408: { content?: never }; 409: { content?: never }; 412: { content?: never }; 413: { content?: never }; 415: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
    delete: { parameters: { path: { "email": string } }; responses: { 204: { content?: never }; 400: { content?: never }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 408: { content?: never }; 409: { content?: never }; 412: { content?: never }; 413: { content?: never }; 415: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
  };
  "/manage/v1/installation/mail-templates": {
    get: { parameters: {  }; responses: { 200: { content: { "application/json": { "items": (MailTemplate)[]; "nextCursor": (string | null) } } }; 401: { content?: never }; 403: { content?: never }; 503: { content?: never } } };
  };
  "/manage/v1/installation/mail-templates/{mailKind}": {
    get: { parameters: { path: { "mailKind": ("password-link" | "invitation" | "sender-confirmation" | "security-notice") } }; responses: { 200: { content: { "application/json": MailTemplate } }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 503: { content?: never } } };
    put: { parameters: { path: { "mailKind": ("password-link" | "invitation" | "sender-confirmation" | "security-notice") } }; requestBody: { content: { "application/json": { "subject": string; "previewText"?: string; "html"?: string; "mjml"?: string; "text"?: string } } }; responses: { 200: { content: { "application/json": MailTemplate } }; 201: { content: { "application/json": MailTemplate } }; 400: { content?: never }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 408: { content?: never }; 409: { content?: never }; 412: { content?: never }; 413: { content?: never }; 415: { content?: never }; 422: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
    delete: { parameters: { path: { "mailKind": ("password-link" | "invitation" | "sender-confirmation" | "security-notice") } }; responses: { 204: { content?: never }; 400: { content?: never }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 408: { content?: never }; 409: { content?: never }; 412: { content?: never }; 413: { content?: never }; 415: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
  };
  "/manage/v1/installation/receivers": {
    get: { parameters: {  }; responses: { 200: { content: { "application/json": { "items": (Receiver)[]; "nextCursor": (string | null) } } }; 401: { content?: never }; 403: { content?: never }; 503: { content?: never } } };
  };
  "/manage/v1/installation/receivers/{receiver}/settings": {
    get: { parameters: { path: { "receiver": string } }; responses: { 200: { content: { "application/json": ReceiverSettings } }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 503: { content?: never } } };
    put: { parameters: { path: { "receiver": string } }; requestBody?: { content: { "application/json": { "rate"?: (number | null); "connections"?: (number | null); "messagesPerConnection"?: (number | null) } } }; responses: { 200: { content: { "application/json": ReceiverSettings } }; 201: { content: { "application/json": ReceiverSettings } }; 400: { content?: never }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 408: { content?: never }; 409: { content?: never }; 412: { content?: never }; 413: { content?: never }; 415: { content?: never }; 422: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
  };
  "/manage/v1/installation/tls-results": {
    get: { parameters: { query?: { "domain"?: string; "from"?: string; "until"?: string; "cursor"?: string; "limit"?: number } }; responses: { 200: { content: { "application/json": { "items": (TlsDay)[]; "nextCursor": (string | null) } } }; 401: { content?: never }; 403: { content?: never }; 422: { content?: never }; 503: { content?: never } } };
  };
  "/manage/v1/installation/tls-reports/{domain}": {
    get: { parameters: { path: { "domain": string }; query: { "day": string } }; responses: { 200: { content: { "application/json": TlsReport } }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 422: { content?: never }; 503: { content?: never } } };
  };
  "/manage/v1/installation/integrations/{clientId}/allowance": {
    get: { parameters: { path: { "clientId": string } }; responses: { 200: { content: { "application/json": Allowance } }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 503: { content?: never } } };
    put: { parameters: { path: { "clientId": string } }; requestBody: { content: { "application/json": { "perHour": number } } }; responses: { 200: { content: { "application/json": Allowance } }; 201: { content: { "application/json": Allowance } }; 400: { content?: never }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 408: { content?: never }; 409: { content?: never }; 412: { content?: never }; 413: { content?: never }; 415: { content?: never }; 422: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
  };
  "/manage/v1/installation/audit": {
    get: { parameters: { query?: { "kind"?: string; "email"?: string; "from"?: (string); "until"?: (string); "cursor"?: string; "limit"?: number } }; responses: { 200: { content: { "application/json": { "items": (AuditEvent)[]; "nextCursor": (string | null) } } }; 401: { content?: never }; 403: { content?: never }; 422: { content?: never }; 503: { content?: never } } };
  };
  "/manage/v1/accounts/{accountId}": {
    get: { parameters: { path: { "accountId": string } }; responses: { 200: { content: { "application/json": Account } }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
    put: { parameters: { path: { "accountId": string } }; requestBody: { content: { "application/json": { "name": string; "archiveAddress"?: string } } }; responses: { 200: { content: { "application/json": Account } }; 201: { content: { "application/json": Account } }; 400: { content?: never }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 408: { content?: never }; 409: { content?: never }; 412: { content?: never }; 413: { content?: never }; 415: { content?: never }; 422: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
  };
  "/manage/v1/accounts/{accountId}/quota-use": {
    get: { parameters: { path: { "accountId": string } }; responses: { 200: { content: { "application/json": QuotaUse } }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
  };
  "/manage/v1/accounts/{accountId}/audit": {
    get: { parameters: { path: { "accountId": string }; query?: { "kind"?: string; "email"?: string; "from"?: (string); "until"?: (string); "cursor"?: string; "limit"?: number } }; responses: { 200: { content: { "application/json": { "items": (AuditEvent)[]; "nextCursor": (string | null) } } }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 422: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
  };
  "/manage/v1/accounts/{accountId}/users": {
    get: { parameters: { path: { "accountId": string }; query?: { "cursor"?: string; "limit"?: number } }; responses: { 200: { content: { "application/json": { "items": (User)[]; "nextCursor": (string | null) } } }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 422: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
  };
  "/manage/v1/accounts/{accountId}/users/{email}": {
    get: { parameters: { path: { "accountId": string; "email": string } }; responses: { 200: { content: { "application/json": User } }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
    put: { parameters: { path: { "accountId": string; "email": string }; query?: { "keysTo"?: string } }; requestBody: { content: { "application/json": { "name"?: string; "role": ("owner" | "developer" | "marketer" | "viewer" | "service") } } }; responses: { 200: { content: { "application/json": User } }; 201: { content: { "application/json": User } }; 400: { content?: never }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 408: { content?: never }; 409: { content?: never }; 412: { content?: never }; 413: { content?: never }; 415: { content?: never }; 422: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
    delete: { parameters: { path: { "accountId": string; "email": string }; query?: { "keysTo"?: string } }; responses: { 204: { content?: never }; 400: { content?: never }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 408: { content?: never }; 409: { content?: never }; 412: { content?: never }; 413: { content?: never }; 415: { content?: never }; 422: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
  };
  "/manage/v1/accounts/{accountId}/users/{email}/invitation": {
    post: { parameters: { path: { "accountId": string; "email": string } }; responses: { 200: { content: { "application/json": User } }; 400: { content?: never }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 408: { content?: never }; 409: { content?: never }; 413: { content?: never }; 415: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
  };
  "/manage/v1/accounts/{accountId}/senders": {
    get: { parameters: { path: { "accountId": string }; query?: { "cursor"?: string; "limit"?: number } }; responses: { 200: { content: { "application/json": { "items": (Sender)[]; "nextCursor": (string | null) } } }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 422: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
  };
  "/manage/v1/accounts/{accountId}/senders/{address}": {
    get: { parameters: { path: { "accountId": string; "address": string } }; responses: { 200: { content: { "application/json": Sender } }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
    put: { parameters: { path: { "accountId": string; "address": string } }; requestBody?: { content: { "application/json": { "displayNames"?: (string)[]; "verified"?: boolean } } }; responses: { 200: { content: { "application/json": Sender } }; 201: { content: { "application/json": Sender } }; 400: { content?: never }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 408: { content?: never }; 409: { content?: never }; 412: { content?: never }; 413: { content?: never }; 415: { content?: never }; 422: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
    delete: { parameters: { path: { "accountId": string; "address": string } }; responses: { 204: { content?: never }; 400: { content?: never }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 408: { content?: never }; 409: { content?: never }; 412: { content?: never }; 413: { content?: never }; 415: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
  };
  "/manage/v1/accounts/{accountId}/senders/{address}/link": {
    post: { parameters: { path: { "accountId": string; "address": string } }; responses: { 200: { content: { "application/json": Sender } }; 400: { content?: never }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 408: { content?: never }; 409: { content?: never }; 413: { content?: never }; 415: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
  };
  "/manage/v1/accounts/{accountId}/domains": {
    get: { parameters: { path: { "accountId": string }; query?: { "cursor"?: string; "limit"?: number } }; responses: { 200: { content: { "application/json": { "items": (Domain)[]; "nextCursor": (string | null) } } }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 422: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
  };
  "/manage/v1/accounts/{accountId}/domains/{domain}": {
    get: { parameters: { path: { "accountId": string; "domain": string } }; responses: { 200: { content: { "application/json": DomainDetail } }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
    put: { parameters: { path: { "accountId": string; "domain": string } }; requestBody?: { content: { "application/json": { "ed25519"?: boolean; "returnPathLabel"?: string } } }; responses: { 200: { content: { "application/json": DomainDetail } }; 201: { content: { "application/json": DomainDetail } }; 400: { content?: never }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 408: { content?: never }; 409: { content?: never }; 412: { content?: never }; 413: { content?: never }; 415: { content?: never }; 422: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
    delete: { parameters: { path: { "accountId": string; "domain": string } }; responses: { 204: { content?: never }; 400: { content?: never }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 408: { content?: never }; 409: { content?: never }; 412: { content?: never }; 413: { content?: never }; 415: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
  };
  "/manage/v1/accounts/{accountId}/domains/{domain}/settings": {
    get: { parameters: { path: { "accountId": string; "domain": string } }; responses: { 200: { content: { "application/json": DomainSettings } }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
    put: { parameters: { path: { "accountId": string; "domain": string } }; requestBody?: { content: { "application/json": { "trackingHost"?: (string | null); "sourcePool"?: string; "warmUp"?: (WarmUp | null); "warmUpGoal"?: number } } }; responses: { 200: { content: { "application/json": DomainSettings } }; 201: { content: { "application/json": DomainSettings } }; 400: { content?: never }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 408: { content?: never }; 409: { content?: never }; 412: { content?: never }; 413: { content?: never }; 415: { content?: never }; 422: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
  };
  "/manage/v1/accounts/{accountId}/domains/{domain}/check": {
    post: { parameters: { path: { "accountId": string; "domain": string } }; responses: { 200: { content: { "application/json": DomainDetail } }; 400: { content?: never }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 408: { content?: never }; 409: { content?: never }; 413: { content?: never }; 415: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
  };
  "/manage/v1/accounts/{accountId}/domains/{domain}/rotate-keys": {
    post: { parameters: { path: { "accountId": string; "domain": string } }; responses: { 200: { content: { "application/json": DomainDetail } }; 400: { content?: never }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 408: { content?: never }; 409: { content?: never }; 413: { content?: never }; 415: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
  };
  "/manage/v1/accounts/{accountId}/integrations": {
    get: { parameters: { path: { "accountId": string }; query?: { "cursor"?: string; "limit"?: number } }; responses: { 200: { content: { "application/json": { "items": (Integration)[]; "nextCursor": (string | null) } } }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 422: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
  };
  "/manage/v1/accounts/{accountId}/integrations/{clientId}": {
    get: { parameters: { path: { "accountId": string; "clientId": string } }; responses: { 200: { content: { "application/json": Integration } }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
    put: { parameters: { path: { "accountId": string; "clientId": string } }; requestBody: { content: { "application/json": { "name": string; "redirectUri"?: string; "grants"?: (("password" | "authorization_code" | "refresh_token"))[]; "requirePkce"?: boolean; "disabled"?: boolean } } }; responses: { 200: { content: { "application/json": Integration } }; 201: { content: { "application/json": Integration } }; 400: { content?: never }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 408: { content?: never }; 409: { content?: never }; 412: { content?: never }; 413: { content?: never }; 415: { content?: never }; 422: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
    delete: { parameters: { path: { "accountId": string; "clientId": string } }; responses: { 204: { content?: never }; 400: { content?: never }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 408: { content?: never }; 409: { content?: never }; 412: { content?: never }; 413: { content?: never }; 415: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
  };
  "/manage/v1/accounts/{accountId}/integrations/{clientId}/secret": {
    post: { parameters: { path: { "accountId": string; "clientId": string } }; requestBody?: { content: { "application/json": { "overlapHours"?: number } } }; responses: { 200: { content: { "application/json": ClientSecret } }; 400: { content?: never }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 408: { content?: never }; 409: { content?: never }; 413: { content?: never }; 415: { content?: never }; 422: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
  };
  "/manage/v1/accounts/{accountId}/integrations/{clientId}/allowance-uses": {
    get: { parameters: { path: { "accountId": string; "clientId": string } }; responses: { 200: { content: { "application/json": { "items": (AllowanceUse)[]; "nextCursor": (string | null) } } }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
  };
  "/manage/v1/accounts/{accountId}/integrations/{clientId}/consents": {
    get: { parameters: { path: { "accountId": string; "clientId": string } }; responses: { 200: { content: { "application/json": { "items": (Consent)[]; "nextCursor": (string | null) } } }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
  };
  "/manage/v1/accounts/{accountId}/integrations/{clientId}/consents/{email}": {
    delete: { parameters: { path: { "accountId": string; "clientId": string; "email": string } }; responses: { 204: { content?: never }; 400: { content?: never }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 408: { content?: never }; 409: { content?: never }; 413: { content?: never }; 415: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
  };
  "/manage/v1/accounts/{accountId}/keys": {
    get: { parameters: { path: { "accountId": string } }; responses: { 200: { content: { "application/json": { "items": (ApiKey)[]; "nextCursor": (string | null) } } }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
    post: { parameters: { path: { "accountId": string } }; requestBody: { content: { "application/json": { "name": string; "scopes": (("account:read" | "account:write" | "audit:read" | "contacts:read" | "contacts:write" | "domains:read" | "domains:write" | "inbox:read" | "inbox:write" | "integrations:read" | "integrations:write" | "lists:read" | "lists:write" | "messages:read" | "messages:control" | "messages:send" | "messages:status" | "queue:read" | "queue:control" | "reports:read" | "senders:read" | "senders:write" | "suppressions:read" | "suppressions:write" | "templates:read" | "templates:write" | "templates:publish" | "users:read" | "webhooks:read" | "webhooks:write"))[]; "expiresInDays"?: number; "networks"?: (string)[]; "templates"?: (string)[] } } }; responses: { 201: { content: { "application/json": NewApiKey } }; 400: { content?: never }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 408: { content?: never }; 409: { content?: never }; 413: { content?: never }; 415: { content?: never }; 422: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
  };
  "/manage/v1/accounts/{accountId}/keys/{keyId}/rotate": {
    post: { parameters: { path: { "accountId": string; "keyId": string } }; requestBody?: { content: { "application/json": { "overlapHours"?: number } } }; responses: { 201: { content: { "application/json": NewApiKey } }; 400: { content?: never }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 408: { content?: never }; 409: { content?: never }; 413: { content?: never }; 415: { content?: never }; 422: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
  };
  "/manage/v1/accounts/{accountId}/keys/{keyId}": {
    delete: { parameters: { path: { "accountId": string; "keyId": string } }; responses: { 204: { content?: never }; 400: { content?: never }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 408: { content?: never }; 409: { content?: never }; 413: { content?: never }; 415: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
  };
  "/manage/v1/accounts/{accountId}/templates": {
    get: { parameters: { path: { "accountId": string }; query?: { "contains"?: string; "cursor"?: string; "limit"?: number } }; responses: { 200: { content: { "application/json": { "items": (Template)[]; "nextCursor": (string | null) } } }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 422: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
  };
  "/manage/v1/accounts/{accountId}/templates/{templateId}": {
    get: { parameters: { path: { "accountId": string; "templateId": string } }; responses: { 200: { content: { "application/json": Template } }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
    put: { parameters: { path: { "accountId": string; "templateId": string } }; requestBody: { content: { "application/json": { "name": string; "createdBy"?: string; "whenUncertain"?: ("resend" | "hold") } } }; responses: { 200: { content: { "application/json": Template } }; 201: { content: { "application/json": Template } }; 400: { content?: never }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 408: { content?: never }; 409: { content?: never }; 412: { content?: never }; 413: { content?: never }; 415: { content?: never }; 422: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
    delete: { parameters: { path: { "accountId": string; "templateId": string } }; responses: { 204: { content?: never }; 400: { content?: never }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 408: { content?: never }; 409: { content?: never }; 412: { content?: never }; 413: { content?: never }; 415: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
  };
  "/manage/v1/accounts/{accountId}/templates/{templateId}/draft": {
    get: { parameters: { path: { "accountId": string; "templateId": string } }; responses: { 200: { content: { "application/json": TemplateDraft } }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
    put: { parameters: { path: { "accountId": string; "templateId": string } }; requestBody: { content: { "application/json": TemplateDraftContent } }; responses: { 200: { content: { "application/json": TemplateDraft } }; 201: { content: { "application/json": TemplateDraft } }; 400: { content?: never }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 408: { content?: never }; 409: { content?: never }; 412: { content?: never }; 413: { content?: never }; 415: { content?: never }; 422: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
    delete: { parameters: { path: { "accountId": string; "templateId": string } }; responses: { 204: { content?: never }; 400: { content?: never }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 408: { content?: never }; 409: { content?: never }; 412: { content?: never }; 413: { content?: never }; 415: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
  };
  "/manage/v1/accounts/{accountId}/templates/{templateId}/preview": {
    post: { parameters: { path: { "accountId": string; "templateId": string } }; requestBody?: { content: { "application/json": { "content"?: TemplateDraftContent; "version"?: number; "values"?: Record<string, (string | ValueObject2 | (ValueObject2)[])>; "locale"?: string; "subjectLine"?: string; "previewText"?: string } } }; responses: { 200: { content: { "application/json": TemplatePreview } }; 400: { content?: never }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 408: { content?: never }; 409: { content?: never }; 413: { content?: never }; 415: { content?: never }; 422: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
  };
  "/manage/v1/accounts/{accountId}/templates/{templateId}/test-send": {
    post: { parameters: { path: { "accountId": string; "templateId": string } }; requestBody: { content: { "application/json": { "to": string; "version"?: number; "values"?: Record<string, (string | ValueObject2 | (ValueObject2)[])>; "locale"?: string } } }; responses: { 202: { content: { "application/json": TestSent } }; 400: { content?: never }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 408: { content?: never }; 409: { content?: never }; 413: { content?: never }; 415: { content?: never }; 422: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
  };
  "/manage/v1/accounts/{accountId}/templates/{templateId}/publish": {
    post: { parameters: { path: { "accountId": string; "templateId": string } }; requestBody?: { content: { "application/json": { "force"?: boolean } } }; responses: { 200: { content: { "application/json": Published } }; 400: { content?: never }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 408: { content?: never }; 409: { content?: never }; 412: { content?: never }; 413: { content?: never }; 415: { content?: never }; 422: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
  };
  "/manage/v1/accounts/{accountId}/templates/{templateId}/roll-back": {
    post: { parameters: { path: { "accountId": string; "templateId": string } }; requestBody: { content: { "application/json": { "version": number; "force"?: boolean } } }; responses: { 200: { content: { "application/json": Published } }; 400: { content?: never }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 408: { content?: never }; 409: { content?: never }; 412: { content?: never }; 413: { content?: never }; 415: { content?: never }; 422: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
  };
  "/manage/v1/accounts/{accountId}/templates/{templateId}/duplicate": {
    post: { parameters: { path: { "accountId": string; "templateId": string } }; requestBody: { content: { "application/json": { "id": string; "name": string } } }; responses: { 201: { content: { "application/json": Template } }; 400: { content?: never }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 408: { content?: never }; 409: { content?: never }; 413: { content?: never }; 415: { content?: never }; 422: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
  };
  "/manage/v1/accounts/{accountId}/templates/{templateId}/versions": {
    get: { parameters: { path: { "accountId": string; "templateId": string }; query?: { "cursor"?: string; "limit"?: number } }; responses: { 200: { content: { "application/json": { "items": (TemplateVersion)[]; "nextCursor": (string | null) } } }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 422: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
  };
  "/manage/v1/accounts/{accountId}/templates/{templateId}/versions/{version}": {
    get: { parameters: { path: { "accountId": string; "templateId": string; "version": number } }; responses: { 200: { content: { "application/json": TemplateVersionDetail } }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
  };
  "/manage/v1/accounts/{accountId}/templates/{templateId}/images/{sha256}": {
    get: { parameters: { path: { "accountId": string; "templateId": string; "sha256": string } }; responses: { 200: { content: { "application/octet-stream": string } }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
  };
  "/manage/v1/accounts/{accountId}/lists": {
    get: { parameters: { path: { "accountId": string }; query?: { "cursor"?: string; "limit"?: number } }; responses: { 200: { content: { "application/json": { "items": (ContactList)[]; "nextCursor": (string | null) } } }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 422: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
  };
  "/manage/v1/accounts/{accountId}/lists/{listId}": {
    get: { parameters: { path: { "accountId": string; "listId": string } }; responses: { 200: { content: { "application/json": ContactList } }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
    put: { parameters: { path: { "accountId": string; "listId": string } }; requestBody: { content: { "application/json": { "name": string; "folderName"?: string; "description"?: string } } }; responses: { 200: { content: { "application/json": ContactList } }; 201: { content: { "application/json": ContactList } }; 400: { content?: never }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 408: { content?: never }; 409: { content?: never }; 412: { content?: never }; 413: { content?: never }; 415: { content?: never }; 422: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
    delete: { parameters: { path: { "accountId": string; "listId": string } }; responses: { 204: { content?: never }; 400: { content?: never }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 408: { content?: never }; 409: { content?: never }; 412: { content?: never }; 413: { content?: never }; 415: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
  };
  "/manage/v1/accounts/{accountId}/lists/{listId}/contacts": {
    get: { parameters: { path: { "accountId": string; "listId": string }; query?: { "startsWith"?: string; "cursor"?: string; "limit"?: number } }; responses: { 200: { content: { "application/json": { "items": (Contact)[]; "nextCursor": (string | null) } } }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 422: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
  };
  "/manage/v1/accounts/{accountId}/lists/{listId}/contacts/{email}": {
    get: { parameters: { path: { "accountId": string; "listId": string; "email": string } }; responses: { 200: { content: { "application/json": Contact } }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
    put: { parameters: { path: { "accountId": string; "listId": string; "email": string } }; requestBody: { content: { "application/json": { "fields": Record<string, string> } } }; responses: { 200: { content: { "application/json": Contact } }; 201: { content: { "application/json": Contact } }; 400: { content?: never }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 408: { content?: never }; 409: { content?: never }; 412: { content?: never }; 413: { content?: never }; 415: { content?: never }; 422: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
    delete: { parameters: { path: { "accountId": string; "listId": string; "email": string } }; responses: { 204: { content?: never }; 400: { content?: never }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 408: { content?: never }; 409: { content?: never }; 412: { content?: never }; 413: { content?: never }; 415: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
  };
  "/manage/v1/accounts/{accountId}/lists/{listId}/export": {
    get: { parameters: { path: { "accountId": string; "listId": string } }; responses: { 200: { content: { "text/csv": string } }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
  };
  "/manage/v1/accounts/{accountId}/lists/{listId}/imports": {
    get: { parameters: { path: { "accountId": string; "listId": string } }; responses: { 200: { content: { "application/json": { "items": (ListedFileImport)[]; "nextCursor": (string | null) } } }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
  };
  "/manage/v1/accounts/{accountId}/lists/{listId}/imports/{importId}": {
    get: { parameters: { path: { "accountId": string; "listId": string; "importId": string } }; responses: { 200: { content: { "application/json": FileImport } }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
    put: { parameters: { path: { "accountId": string; "listId": string; "importId": string } }; requestBody?: { content: { "text/csv": string } }; responses: { 202: { content: { "application/json": FileImport } }; 400: { content?: never }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 408: { content?: never }; 409: { content?: never }; 412: { content?: never }; 413: { content?: never }; 415: { content?: never }; 422: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
  };
  "/manage/v1/accounts/{accountId}/events": {
    get: { parameters: { path: { "accountId": string }; query?: { "after"?: string; "limit"?: number; "wait"?: number; "kind"?: string } }; responses: { 200: { content: { "application/json": Events; "text/event-stream": string } }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 410: { content?: never }; 422: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
  };
  "/manage/v1/accounts/{accountId}/messages": {
    get: { parameters: { path: { "accountId": string }; query?: { "state"?: ("queued" | "sending" | "deferred" | "delivered" | "bounced" | "expired" | "failed" | "uncertain" | "suppressed" | "canceled"); "templateId"?: string; "tag"?: string; "externalId"?: string; "recipient"?: string; "attribute"?: string; "locale"?: string; "clientId"?: string; "transactional"?: boolean; "waiting"?: boolean; "from"?: (string); "until"?: (string); "cursor"?: string; "limit"?: number } }; responses: { 200: { content: { "application/json": { "items": (MessageLine)[]; "nextCursor": (string | null) } } }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 422: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
  };
  "/manage/v1/accounts/{accountId}/messages/{messageId}": {
    get: { parameters: { path: { "accountId": string; "messageId": string } }; responses: { 200: { content: { "application/json": Message } }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
  };
  "/manage/v1/accounts/{accountId}/messages/{messageId}/attachments/{attachment}": {
    get: { parameters: { path: { "accountId": string; "messageId": string; "attachment": number } }; responses: { 200: { content: { "application/octet-stream": string } }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
  };
  "/manage/v1/accounts/{accountId}/messages/{messageId}/rendered": {
    get: { parameters: { path: { "accountId": string; "messageId": string } }; responses: { 200: { content: { "application/json": RenderedMessage } }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
  };
  "/manage/v1/accounts/{accountId}/messages/{messageId}/pause": {
    post: { parameters: { path: { "accountId": string; "messageId": string } }; responses: { 200: { content: { "application/json": ControlResult } }; 400: { content?: never }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 408: { content?: never }; 409: { content?: never }; 413: { content?: never }; 415: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
  };
  "/manage/v1/accounts/{accountId}/messages/{messageId}/resume": {
    post: { parameters: { path: { "accountId": string; "messageId": string } }; responses: { 200: { content: { "application/json": ControlResult } }; 400: { content?: never }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 408: { content?: never }; 409: { content?: never }; 413: { content?: never }; 415: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
  };
  "/manage/v1/accounts/{accountId}/messages/{messageId}/cancel": {
    post: { parameters: { path: { "accountId": string; "messageId": string } }; responses: { 200: { content: { "application/json": ControlResult } }; 400: { content?: never }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 408: { content?: never }; 409: { content?: never }; 413: { content?: never }; 415: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
  };
  "/manage/v1/accounts/{accountId}/messages/{messageId}/retry": {
    post: { parameters: { path: { "accountId": string; "messageId": string } }; responses: { 200: { content: { "application/json": ControlResult } }; 400: { content?: never }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 408: { content?: never }; 409: { content?: never }; 413: { content?: never }; 415: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
  };
  "/manage/v1/accounts/{accountId}/messages/{messageId}/resend": {
    post: { parameters: { path: { "accountId": string; "messageId": string } }; responses: { 201: { content: { "application/json": Sent } }; 400: { content?: never }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 408: { content?: never }; 409: { content?: never }; 413: { content?: never }; 415: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
  };
  "/manage/v1/accounts/{accountId}/queue": {
    get: { parameters: { path: { "accountId": string } }; responses: { 200: { content: { "application/json": Queue } }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
  };
  "/manage/v1/accounts/{accountId}/queue/pauses/{destination}": {
    get: { parameters: { path: { "accountId": string; "destination": string } }; responses: { 200: { content: { "application/json": Pause } }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
    put: { parameters: { path: { "accountId": string; "destination": string } }; responses: { 200: { content: { "application/json": Pause } }; 201: { content: { "application/json": Pause } }; 400: { content?: never }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 408: { content?: never }; 409: { content?: never }; 412: { content?: never }; 413: { content?: never }; 415: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
    delete: { parameters: { path: { "accountId": string; "destination": string } }; responses: { 204: { content?: never }; 400: { content?: never }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 408: { content?: never }; 409: { content?: never }; 412: { content?: never }; 413: { content?: never }; 415: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
  };
  "/manage/v1/accounts/{accountId}/queue/retry": {
    post: { parameters: { path: { "accountId": string } }; requestBody?: { content: { "application/json": { "destination"?: string } } }; responses: { 200: { content: { "application/json": QueueControlResult } }; 400: { content?: never }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 408: { content?: never }; 409: { content?: never }; 413: { content?: never }; 415: { content?: never }; 422: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
  };
  "/manage/v1/accounts/{accountId}/queue/cancel": {
    post: { parameters: { path: { "accountId": string } }; requestBody?: { content: { "application/json": { "destination"?: string } } }; responses: { 200: { content: { "application/json": QueueControlResult } }; 400: { content?: never }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 408: { content?: never }; 409: { content?: never }; 413: { content?: never }; 415: { content?: never }; 422: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
  };
  "/manage/v1/accounts/{accountId}/scheduled-messages": {
    get: { parameters: { path: { "accountId": string }; query?: { "messageId"?: string; "tag"?: string; "externalId"?: string; "from"?: (string); "until"?: (string); "cursor"?: string; "limit"?: number } }; responses: { 200: { content: { "application/json": { "items": (ScheduledMessage)[]; "nextCursor": (string | null) } } }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 422: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
  };
  "/manage/v1/accounts/{accountId}/scheduled-messages/move": {
    post: { parameters: { path: { "accountId": string } }; requestBody: { content: { "application/json": { "messageId"?: string; "tag"?: string; "externalId"?: string; "sendAt": string } } }; responses: { 200: { content: { "application/json": ScheduleChange } }; 400: { content?: never }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 408: { content?: never }; 409: { content?: never }; 413: { content?: never }; 415: { content?: never }; 422: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
  };
  "/manage/v1/accounts/{accountId}/scheduled-messages/cancel": {
    post: { parameters: { path: { "accountId": string } }; requestBody?: { content: { "application/json": { "messageId"?: string; "tag"?: string; "externalId"?: string } } }; responses: { 200: { content: { "application/json": ScheduleChange } }; 400: { content?: never }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 408: { content?: never }; 409: { content?: never }; 413: { content?: never }; 415: { content?: never }; 422: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
  };
  "/manage/v1/accounts/{accountId}/suppressions": {
    get: { parameters: { path: { "accountId": string }; query?: { "contains"?: string; "reason"?: ("hard_bounce" | "complaint" | "unsubscribe" | "manual"); "cursor"?: string; "limit"?: number } }; responses: { 200: { content: { "application/json": { "items": (Suppression)[]; "nextCursor": (string | null) } } }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 422: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
  };
  "/manage/v1/accounts/{accountId}/suppressions/{address}": {
    get: { parameters: { path: { "accountId": string; "address": string } }; responses: { 200: { content: { "application/json": SuppressedAddress } }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
    put: { parameters: { path: { "accountId": string; "address": string } }; requestBody?: { content: { "application/json": { "reason"?: ("hard_bounce" | "complaint" | "unsubscribe" | "manual") } } }; responses: { 200: { content: { "application/json": SuppressedAddress } }; 201: { content: { "application/json": SuppressedAddress } }; 400: { content?: never }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 408: { content?: never }; 409: { content?: never }; 412: { content?: never }; 413: { content?: never }; 415: { content?: never }; 422: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
    delete: { parameters: { path: { "accountId": string; "address": string }; query?: { "reason"?: ("hard_bounce" | "complaint" | "unsubscribe" | "manual") } }; responses: { 204: { content?: never }; 400: { content?: never }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 408: { content?: never }; 409: { content?: never }; 412: { content?: never }; 413: { content?: never }; 415: { content?: never }; 422: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
  };
  "/manage/v1/accounts/{accountId}/suppressions-export": {
    get: { parameters: { path: { "accountId": string } }; responses: { 200: { content: { "text/csv": string } }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
  };
  "/manage/v1/accounts/{accountId}/suppressions-imports": {
    get: { parameters: { path: { "accountId": string } }; responses: { 200: { content: { "application/json": { "items": (ListedFileImport)[]; "nextCursor": (string | null) } } }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
  };
  "/manage/v1/accounts/{accountId}/suppressions-imports/{importId}": {
    get: { parameters: { path: { "accountId": string; "importId": string } }; responses: { 200: { content: { "application/json": FileImport } }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
    put: { parameters: { path: { "accountId": string; "importId": string } }; requestBody?: { content: { "text/csv": string } }; responses: { 202: { content: { "application/json": FileImport } }; 400: { content?: never }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 408: { content?: never }; 409: { content?: never }; 412: { content?: never }; 413: { content?: never }; 415: { content?: never }; 422: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
  };
  "/manage/v1/accounts/{accountId}/webhooks": {
    get: { parameters: { path: { "accountId": string } }; responses: { 200: { content: { "application/json": { "items": (Webhook)[]; "nextCursor": (string | null) } } }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
    post: { parameters: { path: { "accountId": string } }; requestBody: { content: { "application/json": { "url": string; "kinds": (("accepted" | "delivered" | "bounced" | "deferred" | "expired" | "failed" | "uncertain" | "canceled" | "delayed" | "complained" | "unsubscribed" | "opened" | "clicked"))[] } } }; responses: { 201: { content: { "application/json": WebhookSecret } }; 400: { content?: never }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 408: { content?: never }; 409: { content?: never }; 413: { content?: never }; 415: { content?: never }; 422: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
  };
  "/manage/v1/accounts/{accountId}/webhooks/{webhookId}": {
    get: { parameters: { path: { "accountId": string; "webhookId": string } }; responses: { 200: { content: { "application/json": Webhook } }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
    put: { parameters: { path: { "accountId": string; "webhookId": string } }; requestBody: { content: { "application/json": { "url": string; "kinds": (("accepted" | "delivered" | "bounced" | "deferred" | "expired" | "failed" | "uncertain" | "canceled" | "delayed" | "complained" | "unsubscribed" | "opened" | "clicked"))[] } } }; responses: { 200: { content: { "application/json": Webhook } }; 201: { content: { "application/json": Webhook } }; 400: { content?: never }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 408: { content?: never }; 409: { content?: never }; 412: { content?: never }; 413: { content?: never }; 415: { content?: never }; 422: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
    delete: { parameters: { path: { "accountId": string; "webhookId": string } }; responses: { 204: { content?: never }; 400: { content?: never }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 408: { content?: never }; 409: { content?: never }; 412: { content?: never }; 413: { content?: never }; 415: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
  };
  "/manage/v1/accounts/{accountId}/webhooks/{webhookId}/secret": {
    post: { parameters: { path: { "accountId": string; "webhookId": string } }; responses: { 200: { content: { "application/json": WebhookSecret } }; 400: { content?: never }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 408: { content?: never }; 409: { content?: never }; 413: { content?: never }; 415: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
  };
  "/manage/v1/accounts/{accountId}/webhooks/{webhookId}/pause": {
    post: { parameters: { path: { "accountId": string; "webhookId": string } }; responses: { 200: { content: { "application/json": Webhook } }; 400: { content?: never }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 408: { content?: never }; 409: { content?: never }; 413: { content?: never }; 415: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
  };
  "/manage/v1/accounts/{accountId}/webhooks/{webhookId}/resume": {
    post: { parameters: { path: { "accountId": string; "webhookId": string } }; responses: { 200: { content: { "application/json": Webhook } }; 400: { content?: never }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 408: { content?: never }; 409: { content?: never }; 413: { content?: never }; 415: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
  };
  "/manage/v1/accounts/{accountId}/webhooks/{webhookId}/deliveries": {
    get: { parameters: { path: { "accountId": string; "webhookId": string }; query?: { "state"?: ("pending" | "delivered" | "failed"); "cursor"?: string; "limit"?: number } }; responses: { 200: { content: { "application/json": { "items": (WebhookDelivery)[]; "nextCursor": (string | null) } } }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 422: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
  };
  "/manage/v1/accounts/{accountId}/webhooks/{webhookId}/replay": {
    post: { parameters: { path: { "accountId": string; "webhookId": string } }; requestBody?: { content: { "application/json": { "eventId"?: string; "from"?: (string); "until"?: (string) } } }; responses: { 202: { content: { "application/json": WebhookReplay } }; 400: { content?: never }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 408: { content?: never }; 409: { content?: never }; 413: { content?: never }; 415: { content?: never }; 422: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
  };
  "/manage/v1/accounts/{accountId}/attention": {
    get: { parameters: { path: { "accountId": string } }; responses: { 200: { content: { "application/json": AttentionList } }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
  };
  "/manage/v1/accounts/{accountId}/reports": {
    get: { parameters: { path: { "accountId": string }; query: { "from": (string); "until": (string); "group"?: ("none" | "hour" | "day" | "template" | "locale" | "tag" | "sender" | "destination"); "timeZone"?: string; "templateId"?: string; "locale"?: string; "tag"?: string; "senderDomain"?: string; "destinationDomain"?: string } }; responses: { 200: { content: { "application/json": Report } }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 422: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
  };
  "/manage/v1/accounts/{accountId}/reports-export": {
    get: { parameters: { path: { "accountId": string }; query: { "from": (string); "until": (string); "group"?: ("none" | "hour" | "day" | "template" | "locale" | "tag" | "sender" | "destination"); "timeZone"?: string; "templateId"?: string; "locale"?: string; "tag"?: string; "senderDomain"?: string; "destinationDomain"?: string } }; responses: { 200: { content: { "text/csv": string } }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 422: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
  };
  "/manage/v1/accounts/{accountId}/retention-rule": {
    get: { parameters: { path: { "accountId": string } }; responses: { 200: { content: { "application/json": RetentionRule } }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
    put: { parameters: { path: { "accountId": string } }; requestBody: { content: { "application/json": RetentionRule } }; responses: { 200: { content: { "application/json": RetentionRule } }; 201: { content: { "application/json": RetentionRule } }; 400: { content?: never }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 408: { content?: never }; 409: { content?: never }; 412: { content?: never }; 413: { content?: never }; 415: { content?: never }; 422: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
  };
  "/manage/v1/accounts/{accountId}/people/{address}": {
    get: { parameters: { path: { "accountId": string; "address": string } }; responses: { 200: { content: { "application/x-ndjson": string } }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
    delete: { parameters: { path: { "accountId": string; "address": string }; query?: { "keepSuppressions"?: boolean } }; responses: { 200: { content: { "application/json": Erased } }; 400: { content?: never }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 408: { content?: never }; 409: { content?: never }; 413: { content?: never }; 415: { content?: never }; 422: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
  };
  "/manage/v1/accounts/{accountId}/inbox/messages": {
    get: { parameters: { path: { "accountId": string }; query?: { "search"?: string; "cursor"?: string; "limit"?: number } }; responses: { 200: { content: { "application/json": { "items": (InboxSummary)[]; "nextCursor": (string | null) } } }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 422: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
    delete: { parameters: { path: { "accountId": string } }; responses: { 204: { content?: never }; 400: { content?: never }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 408: { content?: never }; 409: { content?: never }; 413: { content?: never }; 415: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
  };
  "/manage/v1/accounts/{accountId}/inbox/messages/{inboxMessageId}": {
    get: { parameters: { path: { "accountId": string; "inboxMessageId": string } }; responses: { 200: { content: { "application/json": InboxMessage } }; 401: { content?: never }; 403: { content?: never }; 404: { content?: never }; 429: { content?: never }; 503: { content?: never } } };
  };
}
