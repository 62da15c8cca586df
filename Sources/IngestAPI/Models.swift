// PLAN: JSON models of the ingest API, Codable by FoundationEssentials.
import FoundationEssentials
