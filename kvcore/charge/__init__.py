"""Charge: what one request costs and how many fit."""

from kvcore.charge.request_charge import PartCharge, RequestCharge, charge_request
from kvcore.charge.tax import tax_by_cause

__all__ = ["PartCharge", "RequestCharge", "charge_request", "tax_by_cause"]
